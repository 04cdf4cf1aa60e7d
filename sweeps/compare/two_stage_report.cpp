#include "sweeps/compare/two_stage_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/printable.hpp"
#include "sweeps/compare/number_text.hpp"

namespace depthgrid {
namespace {

using StageJson = nlohmann::ordered_json;

constexpr std::size_t kMostNamed = 6;  // cells of one row

bool has_interval(const TwoStageRow& row) {
  return !std::isnan(row.interval.mean);
}

/// Why a row has no interval, or what is odd about it; empty if nothing is.
std::string stage_note(const Listing& listing, const TwoStageRow& row) {
  if (!row.refused.empty()) return "refused: " + row.refused;
  std::vector<std::string> parts;
  for (const std::size_t at : row.missing) {
    const CellSummary& cell = listing.cells[at];
    const bool done = cell.status == CellStatus::Completed;
    parts.push_back(fmt::format("{} ({})", cell.alias, done ? "no figure" : name_of(cell.status)));
  }
  if (parts.size() > kMostNamed) {
    const std::size_t more = parts.size() - kMostNamed;
    parts.resize(kMostNamed);
    parts.push_back(fmt::format("{} more", more));
  }
  if (!row.absent.empty()) {
    parts.push_back(fmt::format("no cell here of seeds {}", fmt::join(row.absent, ", ")));
  }
  if (!parts.empty()) return fmt::format("missing: {}", fmt::join(parts, ", "));
  if (!has_interval(row)) return "a difference is no finite number";
  if (row.interval.status == SteinStatus::NoSpread) {
    return "the differences of stage one do not vary: no statement of coverage";
  }
  return {};
}

/// How the cells that rows wait for come to have a figure: a line for each way there is.
std::string advice_text(const Listing& listing, const TwoStageAnswer& answer) {
  bool open = false, failed = false, cancelled = false, diverged = false;
  for (const TwoStageRow& row : answer.rows) {
    open = open || !row.absent.empty();
    for (const std::size_t at : row.missing) {
      const CellStatus status = listing.cells[at].status;
      open = open || status == CellStatus::Pending || status == CellStatus::Running;
      failed = failed || status == CellStatus::Failed || status == CellStatus::Oom;
      cancelled = cancelled || status == CellStatus::Cancelled;
      diverged = diverged || status == CellStatus::Diverged;
    }
  }
  const std::string store = shell_word(answer.store);
  std::string out;
  if (failed) out += fmt::format("failed cells: depthgrid retry --failed {}\n", store);
  if (cancelled) {
    out += fmt::format("cancelled cells: depthgrid retry --class cancelled {}\n", store);
  }
  if (open || failed || cancelled) {
    out += "what is to be trained: the same depthgrid run, or submit, again: it has all seeds\n";
  }
  if (diverged) {
    out +=
        "a diverged cell diverges again, and seeds that are missing for what they showed leave no "
        "sample: its arm has no\ninterval by the rule; what helps is another train.lr or "
        "train.clip, or a sweep without the arm, in another --store\n";
  }
  return out;
}

StageJson row_json(const Listing& listing, const TwoStageRow& row) {
  StageJson missing = StageJson::array();
  for (const std::size_t at : row.missing) {
    const CellSummary& cell = listing.cells[at];
    missing.push_back({{"id", cell.id}, {"alias", cell.alias}, {"status", name_of(cell.status)}});
  }
  const std::string note = stage_note(listing, row);
  return {{"arm", row.arm},
          {"pairs", row.pairs},
          {"n", row.interval.n},
          {"mean", row.interval.mean},
          {"low", row.interval.interval.low},
          {"high", row.interval.interval.high},
          {"half_width", row.interval.half_width},
          {"sd", row.interval.sd},
          {"degrees", row.interval.degrees},
          {"missing", missing},
          {"absent", row.absent},
          {"note", note.empty() ? StageJson() : StageJson(note)}};
}

void add_titles(Table& csv) {
  for (const char* title :
       {"until_ci_n", "until_ci_difference", "until_ci_low", "until_ci_high", "until_ci_degrees"}) {
    csv.columns.push_back({title});
  }
}

void add_entries(std::vector<std::string>& line, const TwoStageRow* row) {
  const bool there = row != nullptr && has_interval(*row);
  const SteinInterval interval = there ? row->interval : SteinInterval{};
  line.push_back(there ? std::to_string(interval.n) : "");
  for (const double x :
       {interval.mean, interval.interval.low, interval.interval.high, interval.degrees}) {
    line.push_back(there ? shortest(x) : "");
  }
}

/// The side that a table's rows are compared with; null if none is there.
template <typename Rows, typename GroupOf>
const ComparedGroup* stage_baseline(const Rows& rows, const GroupOf& group_of) {
  for (const auto& row : rows) {
    if (group_of(row).baseline) return &group_of(row);
  }
  return nullptr;
}

}  // namespace

std::string two_stage_headline(const TwoStageRecord& record) {
  std::string out =
      fmt::format("--until-ci {}: half-width of {:.4g} in {}; stage one of {} seeds ", record.asked,
                  record.half_width, record.metric, record.first_seeds.size());
  const double asked = seeds_asked_for(record);
  const std::string number =
      asked < 1e9 ? fmt::format("{:.0f}", asked) : fmt::format("{:.2g}", asked);
  if (record.met) return out + fmt::format("asks for {}", number);
  return out + fmt::format(
                   "asks for {}, --max-seeds allows {}: half-width of {:.4g}, wider than "
                   "asked",
                   number, record.seeds.size(), widest_of(record));
}

Table two_stage_table(const Listing& listing, const TwoStageAnswer& answer) {
  Table out{{{"arm"},
             {"seeds", Align::Right},
             {"difference", Align::Right},
             {"95 % interval"},
             {"half-width", Align::Right}},
            {}};
  const bool noted = std::ranges::any_of(
      answer.rows, [&](const TwoStageRow& row) { return !stage_note(listing, row).empty(); });
  if (noted) out.columns.push_back({"note"});
  const std::size_t seeds = answer.record.seeds.size();
  for (const TwoStageRow& row : answer.rows) {
    std::vector<std::string> line = {
        row.arm,
        row.pairs == seeds ? std::to_string(seeds) : fmt::format("{} of {}", row.pairs, seeds), "-",
        "-", "-"};
    if (has_interval(row)) {
      line[2] = difference_text(row.interval.mean, row.interval.half_width);
      line[3] = interval_text(row.interval.interval);
      line[4] = fmt::format("{:.4g}", row.interval.half_width);
    }
    if (noted) line.push_back(stage_note(listing, row));
    out.rows.push_back(std::move(line));
  }
  return out;
}

std::string two_stage_closing(const TwoStageAnswer& answer) {
  if (std::ranges::none_of(answer.rows, has_interval)) return {};
  std::string out =
      fmt::format("each interval by the deviation of stage one and its {} degrees of freedom",
                  answer.record.first_seeds.size() - 1);
  if (answer.record.added() > 0) {
    out +=
        "; other intervals\ntake the number of seeds as given, but it was chosen by their spread";
  }
  return out;
}

std::string two_stage_text(const Listing& listing, const std::vector<TwoStageAnswer>& answers) {
  std::string out;
  for (const TwoStageAnswer& answer : answers) {
    if (listing.stores.size() > 1 && answer.damage.empty()) out += answer.store + ": ";
    if (!answer.damage.empty()) {
      out += answer.damage + "\n";
    } else if (!answer.not_shown.empty()) {
      out += answer.not_shown + "\n";
    } else {
      const std::string closing = two_stage_closing(answer);
      out += two_stage_headline(answer.record) + "\n" + text_of(two_stage_table(listing, answer)) +
             closing + (closing.empty() ? "" : "\n") + advice_text(listing, answer);
    }
  }
  return out;
}

nlohmann::ordered_json two_stage_json(const Listing& listing,
                                      const std::vector<TwoStageAnswer>& answers) {
  StageJson out = StageJson::array();
  for (const TwoStageAnswer& answer : answers) {
    if (!answer.damage.empty()) {
      out.push_back({{"store", answer.store}, {"damage", answer.damage}});
      continue;
    }
    const TwoStageRecord& record = answer.record;
    StageJson arms = StageJson::array();
    for (const TwoStageRow& row : answer.rows) arms.push_back(row_json(listing, row));
    out.push_back(
        {{"store", answer.store},
         {"damage", StageJson()},
         {"metric", record.metric},
         {"baseline", record.baseline},
         {"asked", record.asked},
         {"half_width", record.half_width},
         {"first_seeds", record.first_seeds},
         {"seeds", record.seeds},
         {"seeds_asked_for", seeds_asked_for(record)},
         {"max_seeds", record.max_seeds},
         {"met", record.met},
         {"not_shown", answer.not_shown.empty() ? StageJson() : StageJson(answer.not_shown)},
         {"arms", arms}});
  }
  return out;
}

void add_two_stage_columns(Table& csv, const Listing& listing, const Comparison& comparison,
                           const std::vector<TwoStageAnswer>& answers) {
  add_titles(csv);
  std::size_t line = 0;
  for (const EffectTable& table : comparison.effects) {
    const ComparedGroup* const baseline = stage_baseline(
        table.rows, [](const ComparedRow& row) -> const ComparedGroup& { return row.group; });
    for (const ComparedRow& row : table.rows) {
      const bool inspected = baseline != nullptr && !row.group.baseline;
      add_entries(csv.rows.at(line++),
                  inspected ? two_stage_row(listing, answers, row.group, *baseline) : nullptr);
    }
  }
}

void add_two_stage_columns(Table& csv, const Listing& listing, const ArmComparison& comparison,
                           const std::vector<std::string>& metrics,
                           const std::vector<TwoStageAnswer>& answers) {
  add_titles(csv);
  const ComparedGroup* const baseline = stage_baseline(
      comparison.arms, [](const ArmResults& arm) -> const ComparedGroup& { return arm; });
  std::size_t line = 0;
  for (const ArmResults& arm : comparison.arms) {
    for (const std::string& metric : metrics) {
      const bool inspected = baseline != nullptr && !arm.baseline && !answers.empty() &&
                             answers.front().record.metric == metric;
      add_entries(csv.rows.at(line++),
                  inspected ? two_stage_row(listing, answers, arm, *baseline) : nullptr);
    }
  }
}

}  // namespace depthgrid
