#include "sweeps/compare/two_stage.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/files/set_aside.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/stein.hpp"
#include "sweeps/report/results_query.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr const char* kRecordName = "until_ci.json";
constexpr int kRecordVersion = 1;

struct WantedWidth {
  double number = 0;
  bool per_cent = false;
};

WantedWidth wanted_width(const std::string& text) {
  WantedWidth out;
  std::string_view digits = text;
  if (digits.ends_with('%')) {
    out.per_cent = true;
    digits.remove_suffix(1);
  }
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out.number);
  if (error != std::errc() || end != digits.data() + digits.size() || !(out.number > 0) ||
      !std::isfinite(out.number)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--until-ci {}: the half-width of an interval was expected, in the "
                                "unit of the metric (0.005) or of the baseline's mean (1%)",
                                text));
  }
  return out;
}

std::vector<std::int64_t> seeds_of(const Listing& listing) {
  std::vector<std::int64_t> out;
  for (const CellSummary& cell : listing.cells) {
    if (std::ranges::find(out, cell.seed) == out.end()) out.push_back(cell.seed);
  }
  return out;
}

std::vector<std::int64_t> seeds_of(const Sweep& sweep) {
  std::vector<std::int64_t> out;
  for (const CellPlan& cell : sweep.cells) {
    const std::int64_t seed = cell.config.integer("seed");
    if (std::ranges::find(out, seed) == out.end()) out.push_back(seed);
  }
  return out;
}

/// Values of the metric by arm and seed, of completed cells.
std::map<std::string, std::map<std::int64_t, double>> values_by_arm(const Listing& listing) {
  std::map<std::string, std::map<std::int64_t, double>> out;
  for (const CellSummary& cell : listing.cells) {
    const auto at = cell.metrics.find(listing.metric);
    if (cell.status != CellStatus::Completed || at == cell.metrics.end()) continue;
    out[cell.arm].emplace(cell.seed, at->second);
  }
  return out;
}

std::string baseline_arm(const Listing& listing) {
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    if (listing.baseline[row]) return listing.cells[row].arm;
  }
  return {};
}

/// Differences to the baseline, in the order of these seeds; NaN where one is missing.
std::vector<double> differences_of(const std::map<std::int64_t, double>& mine,
                                   const std::map<std::int64_t, double>& theirs,
                                   const std::vector<std::int64_t>& seeds) {
  std::vector<double> out;
  for (const std::int64_t seed : seeds) {
    const auto a = mine.find(seed), b = theirs.find(seed);
    out.push_back(a == mine.end() || b == theirs.end() ? kNaN : a->second - b->second);
  }
  return out;
}

/// Names the cells that have ended without a result; throws if there are any.
void refuse_broken_cells(const Listing& listing) {
  std::vector<std::string> broken;
  for (const CellSummary& cell : listing.cells) {
    if (cell.status == CellStatus::Diverged || is_failure(cell.status)) {
      broken.push_back(fmt::format("{} ({})", cell.alias, name_of(cell.status)));
    }
  }
  if (broken.empty()) return;
  constexpr std::size_t kMost = 6;
  const std::size_t more = broken.size() - std::min(kMost, broken.size());
  broken.resize(broken.size() - more);
  throw UserError(
      ExitCode::Partial,
      fmt::format(
          "--until-ci: stage one needs every seed of every arm, and there are cells without "
          "a result: {}{}; mend them (depthgrid retry, other leaves), or take the arm out of "
          "the sweep",
          fmt::join(broken, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

std::filesystem::path record_file(const std::filesystem::path& store) {
  return store / kRecordName;
}

SteinRule rule_of(const TwoStageRecord& record) {
  return {.first_seeds = record.first_seeds.size(),
          .half_width = record.half_width,
          .max_seeds = static_cast<std::size_t>(record.max_seeds)};
}

}  // namespace

void check_two_stage(const Sweep& sweep, const TwoStageRequest& request) {
  wanted_width(request.half_width);
  std::set<std::int64_t> seeds;
  std::set<std::string> arms;
  bool baseline = false;
  for (const CellPlan& cell : sweep.cells) {
    seeds.insert(cell.config.integer("seed"));
    arms.insert(cell.arm);
    baseline = baseline || cell.baseline;
  }
  const auto refuse = [](const std::string& why) {
    throw UserError(ExitCode::Usage, "--until-ci: " + why);
  };
  if (seeds.size() < kFirstStage) {
    refuse(
        fmt::format("stage one needs {} seeds or more, this sweep has {}: seeds: {} in the sweep "
                    "file, or --set seeds={}",
                    kFirstStage, seeds.size(), kFirstStage, kFirstStage));
  }
  if (static_cast<std::int64_t>(seeds.size()) > request.max_seeds) {
    refuse(fmt::format("this sweep has {} seeds, --max-seeds allows {}", seeds.size(),
                       request.max_seeds));
  }
  if (!baseline || arms.size() < 2)
    refuse("a baseline and another arm to compare with it are needed");
  if (sweep.metric.empty()) refuse("the sweep has no metric");
}

std::optional<TwoStageRecord> read_two_stage(const std::filesystem::path& store) {
  const std::filesystem::path file = record_file(store);
  if (!something_at(file)) return std::nullopt;
  try {
    const nlohmann::ordered_json json = parse_ordered_json(read_text_file(file));
    if (json.at("version").get<int>() != kRecordVersion) throw Error("another version");
    TwoStageRecord out;
    out.metric = json.at("metric").get<std::string>();
    out.asked = json.at("asked").get<std::string>();
    out.half_width = json.at("half_width").get<double>();
    out.max_seeds = json.at("max_seeds").get<std::int64_t>();
    out.first_seeds = json.at("first_seeds").get<std::vector<std::int64_t>>();
    out.seeds = json.at("seeds").get<std::vector<std::int64_t>>();
    out.met = json.at("met").get<bool>();
    for (const auto& one : json.at("contrasts")) {
      out.contrasts.push_back({one.at("arm").get<std::string>(), one.at("sd").get<double>(),
                               one.at("half_width").get<double>()});
    }
    return out;
  } catch (const std::exception& error) {
    throw StorageError(
        file,
        fmt::format("is damaged ({}): it says which seeds --until-ci has added; move "
                    "it away to decide anew, or name the seeds with --set seeds=[…]",
                    error.what()),
        ExitCode::BadData);
  }
}

void publish_two_stage(const std::filesystem::path& store, const TwoStageRecord& record) {
  nlohmann::ordered_json contrasts = nlohmann::ordered_json::array();
  for (const TwoStageContrast& one : record.contrasts) {
    contrasts.push_back({{"arm", one.arm}, {"sd", one.sd}, {"half_width", one.half_width}});
  }
  const nlohmann::ordered_json json = {
      {"version", kRecordVersion},     {"metric", record.metric},
      {"asked", record.asked},         {"half_width", record.half_width},
      {"max_seeds", record.max_seeds}, {"first_seeds", record.first_seeds},
      {"seeds", record.seeds},         {"met", record.met},
      {"contrasts", contrasts}};
  publish_once(record_file(store), json_text(json, 2) + "\n");
}

std::optional<TwoStageRecord> decide_two_stage(const Listing& listing,
                                               const TwoStageRequest& request) {
  refuse_broken_cells(listing);
  const auto open = [](const CellSummary& cell) { return cell.status != CellStatus::Completed; };
  if (std::ranges::any_of(listing.cells, open)) return std::nullopt;
  const Comparison comparison = compare_cells(listing, select_cells(listing, {}), {});
  for (const ComparedRow& row : comparison.effects.front().rows) {
    if (!row.evidence || !row.evidence->pairs.refused) continue;
    throw UserError(ExitCode::BadData,
                    fmt::format("--until-ci: {} cannot be compared with the baseline: {}",
                                row.group.name, row.evidence->pairs.refused.text()));
  }
  TwoStageRecord out;
  out.metric = listing.metric;
  out.asked = request.half_width;
  out.max_seeds = request.max_seeds;
  out.first_seeds = seeds_of(listing);
  const auto values = values_by_arm(listing);
  const std::string baseline = baseline_arm(listing);
  const WantedWidth wanted = wanted_width(request.half_width);
  out.half_width = wanted.number;
  if (wanted.per_cent) {
    std::vector<double> theirs;
    for (const auto& [seed, value] : values.at(baseline)) theirs.push_back(value);
    const auto width = stein_half_width(wanted.number, theirs, out.first_seeds.size());
    if (!width) throw UserError(ExitCode::BadData, "--until-ci: the baseline's mean is no number");
    out.half_width = *width;
  }
  std::vector<std::vector<double>> differences;
  for (const ComparedRow& row : comparison.effects.front().rows) {
    if (row.group.baseline) continue;
    out.contrasts.push_back({row.group.name, 0, 0});
    differences.push_back(
        differences_of(values.at(row.group.name), values.at(baseline), out.first_seeds));
  }
  const SteinPlan plan = stein_plan(differences, rule_of(out));
  if (!plan.unusable.empty()) {
    throw UserError(ExitCode::BadData,
                    fmt::format("--until-ci: {} has a difference that is no number",
                                out.contrasts[plan.unusable.front()].arm));
  }
  for (std::size_t i = 0; i < out.contrasts.size(); ++i) {
    out.contrasts[i].sd = plan.contrasts[i].sd;
    out.contrasts[i].half_width = plan.contrasts[i].half_width;
  }
  out.met = plan.met;
  out.seeds = out.first_seeds;
  std::int64_t next = *std::ranges::max_element(out.seeds) + 1;
  while (out.seeds.size() < plan.seeds) out.seeds.push_back(next++);
  return out;
}

std::string seeds_setting(const Sweep& sweep) {
  return fmt::format("seeds=[{}]", fmt::join(seeds_of(sweep), ", "));
}

std::optional<std::string> added_seeds(const TwoStageRecord& record, const Sweep& sweep) {
  std::vector<std::int64_t> all = seeds_of(sweep);
  const std::size_t own = all.size();
  for (const std::int64_t seed : record.seeds) {
    if (std::ranges::find(all, seed) == all.end()) all.push_back(seed);
  }
  if (all.size() == own) return std::nullopt;
  return fmt::format("seeds=[{}]", fmt::join(all, ", "));
}

std::string two_stage_text(const Listing& listing, const TwoStageRecord& record) {
  std::string out = fmt::format(
      "--until-ci {}: half-width of {:.4g} in {}; stage one of {} seeds asks for {}{}\n",
      record.asked, record.half_width, record.metric, record.first_seeds.size(),
      record.seeds.size(),
      record.met ? "" : fmt::format(" (--max-seeds {}: wider than asked)", record.max_seeds));
  const auto values = values_by_arm(listing);
  const std::string baseline = baseline_arm(listing);
  Table table{{{"arm"},
               {"seeds", Align::Right},
               {"difference", Align::Right},
               {"95 % interval"},
               {"half-width", Align::Right}},
              {}};
  bool all = values.contains(baseline);
  for (const TwoStageContrast& one : record.contrasts) {
    if (!all || !values.contains(one.arm)) {
      all = false;
      break;
    }
    const SteinInterval interval =
        stein_interval(differences_of(values.at(one.arm), values.at(baseline), record.seeds),
                       record.seeds.size(), rule_of(record));
    all = all && !std::isnan(interval.mean);
    table.rows.push_back(
        {one.arm, std::to_string(interval.n), difference_text(interval.mean, interval.half_width),
         interval_text(interval.interval), fmt::format("{:.4g}", interval.half_width)});
  }
  if (!all) return out;
  return out + text_of(table) +
         fmt::format("each interval by the deviation of stage one and its {} degrees of freedom\n",
                     record.first_seeds.size() - 1);
}

}  // namespace depthgrid
