#include "sweeps/report/arms_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kEveryStatus = {
    CellStatus::Completed, CellStatus::Diverged, CellStatus::Running,  CellStatus::Pending,
    CellStatus::Failed,    CellStatus::Oom,      CellStatus::Cancelled};

std::string_view name_of(DifferenceKind kind) {
  return kind == DifferenceKind::Paired ? "paired" : "welch";
}

/// Decimals that show two digits of a spread; four where there is none.
int decimals_of(double spread) {
  if (std::isnan(spread) || spread <= 0) return 4;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(spread))), 0, 10);
}

std::string mean_text(const SampleSummary& sample) {
  if (std::isnan(sample.sd)) return short_number(sample.mean);
  const int decimals = decimals_of(sample.sd);
  return fmt::format("{:.{}f} ± {:.{}f}", sample.mean, decimals, sample.sd, decimals);
}

double half_width(const MeanDifference& d) {
  return (d.high - d.low) / 2;
}

/// Two digits of the value or of its uncertainty, whichever is the smaller number.
std::string difference_text(const MeanDifference& d) {
  const double size = std::abs(d.value);
  const double finer = size > 0 ? std::min(half_width(d), size) : half_width(d);
  return fmt::format("{:+.{}f}", d.value, decimals_of(finer));
}

std::string interval_text(const MeanDifference& d) {
  if (std::isnan(d.low)) return "-";
  const int decimals = decimals_of(half_width(d));
  return fmt::format("[{:+.{}f}, {:+.{}f}]{}", d.low, decimals, d.high, decimals,
                     d.kind == DifferenceKind::Welch ? " w" : "");
}

/// "1 diverged, 2 pending"; empty if no cell is missing.
std::string missing_text(const std::array<std::size_t, 7>& counts) {
  std::vector<std::string> parts;
  for (const CellStatus status : kEveryStatus) {
    const std::size_t n = counts[static_cast<std::size_t>(status)];
    if (status != CellStatus::Completed && n > 0) {
      parts.push_back(fmt::format("{} {}", n, depthgrid::name_of(status)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json number_json(double number) {
  return std::isnan(number) ? Json() : Json(number);
}

Json difference_json(const MeanDifference& d) {
  return {{"kind", name_of(d.kind)},
          {"n", d.n},
          {"value", d.value},
          {"low", number_json(d.low)},
          {"high", number_json(d.high)},
          {"degrees", number_json(d.degrees)}};
}

Json arm_json(const Listing& listing, const ArmResults& arm,
              const std::vector<std::string>& metrics) {
  Json counts = Json::object();
  for (const CellStatus status : kEveryStatus) {
    counts[std::string(depthgrid::name_of(status))] = arm.count(status);
  }
  Json numbers = Json::object();
  for (const std::string& name : metrics) {
    const ArmMetric& metric = arm.metrics.at(name);
    numbers[name] = {
        {"n", metric.sample.n},
        {"mean", number_json(metric.sample.mean)},
        {"sd", number_json(metric.sample.sd)},
        {"difference", metric.difference ? difference_json(*metric.difference) : Json()}};
  }
  ValueMap overrides = listing.cells[arm.cells.front()].overrides;
  std::erase_if(overrides, [](const auto& entry) { return entry.first == "seed"; });
  return {{"arm", arm.arm},
          {"tag", arm.tag.empty() ? Json() : Json(arm.tag)},
          {"baseline", arm.baseline},
          {"cells", arm.cells.size()},
          {"counts", counts},
          {"seeds", arm.seeds},
          {"overrides", parse_ordered_json(canonical_json(overrides))},
          {"metrics", numbers}};
}

/// Texts of the cells that are compared; none where the listing does not say.
std::set<std::string> texts_of(const Listing& listing, const ArmComparison& comparison) {
  std::set<std::string> out;
  for (const ArmResults& arm : comparison.arms) {
    for (const std::size_t row : arm.cells) {
      if (row < listing.texts.size()) out.insert(listing.texts[row]);
    }
  }
  return out;
}

/// The lines below the table.
std::string explanation(const Listing& listing, const ArmComparison& comparison,
                        const std::vector<std::string>& metrics) {
  std::array<std::size_t, 7> counts{};
  std::size_t cells = 0, missing = 0;
  bool paired = false, welch = false;
  for (const ArmResults& arm : comparison.arms) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += arm.counts[i];
    cells += arm.cells.size();
    missing += arm.missing();
    for (const std::string& name : metrics) {
      const auto& difference = arm.metrics.at(name).difference;
      if (!difference) continue;
      (difference->kind == DifferenceKind::Paired ? paired : welch) = true;
    }
  }
  std::string out;
  if (!listing.planned) out += store_text(listing) + "\n";
  if (comparison.baseline.empty()) {
    out += "this sweep has no baseline: --baseline ARM compares with one\n";
  } else if (!comparison.baseline_selected) {
    out += fmt::format("no differences: the filter leaves no cell of the baseline {}\n",
                       comparison.baseline);
  } else {
    out += "* baseline\n";
  }
  out += "mean ± standard deviation over the n seeds whose cells completed\n";
  if (paired || welch) {
    out += fmt::format("difference of means, arm − baseline, with its {:.0f} % t interval{}{}\n",
                       100 * kConfidence, paired ? "; paired by seed" : "",
                       welch ? (paired ? ", or with other seeds Welch's (w)"
                                       : "; other seeds than the baseline's: Welch's (w)")
                             : "");
    if (comparison.arms.size() > 2) {
      out += "each interval holds for itself; of many arms, some differ by chance\n";
    }
  }
  if (const auto texts = texts_of(listing, comparison); texts.size() > 1) {
    out += fmt::format(
        "these arms are of different texts or tokenisers, so their losses cannot be "
        "compared: {}\n",
        fmt::join(texts, "; "));
  }
  const auto is_old = [](const ArmResults& arm) { return arm.arm.find('@') != arm.arm.npos; };
  if (std::ranges::any_of(comparison.arms, is_old)) {
    out += "ARM@N: as it was in plan N of the store, before its configuration was changed\n";
  }
  if (missing > 0) {
    out += fmt::format("{} of {} cells are not in the means: {}\n", missing, cells,
                       missing_text(counts));
  }
  return out;
}

}  // namespace

std::vector<std::string> arm_metrics(const ArmComparison& comparison,
                                     const std::vector<std::string>& columns) {
  std::vector<std::string> known;
  if (comparison.arms.empty()) return known;
  for (const auto& [name, metric] : comparison.arms.front().metrics) known.push_back(name);
  return columns.empty() ? known : resolve_columns(columns, known);
}

void sort_arms(ArmComparison& comparison, const std::string& sort) {
  if (sort.empty() || comparison.arms.empty()) return;
  const bool down = sort[0] == '-';
  std::vector<std::string> names = {"arm", "tag", "cells"};
  for (const auto& [name, metric] : comparison.arms.front().metrics) names.push_back(name);
  const std::string key = resolve_name(std::string_view(sort).substr(down ? 1 : 0), names);
  const auto value = [&key](const ArmResults& arm) -> Value {
    if (key == "arm") return arm.arm;
    if (key == "tag") return arm.tag.empty() ? Value() : Value(arm.tag);
    if (key == "cells") return arm.cells.size();
    const double mean = arm.metrics.at(key).sample.mean;
    return std::isnan(mean) ? Value() : Value(mean);
  };
  std::ranges::stable_sort(comparison.arms, [&](const ArmResults& a, const ArmResults& b) {
    return sorts_before(value(a), value(b), down);
  });
}

std::string arms_text(const Listing& listing, const ArmComparison& comparison,
                      const std::vector<std::string>& metrics, Colour colour) {
  const auto any = [&comparison](auto holds) {
    return std::ranges::any_of(comparison.arms, holds);
  };
  const bool tags =
      any([](const ArmResults& arm) { return !arm.tag.empty() && arm.tag != arm.arm; });
  const bool lacking = any([](const ArmResults& arm) { return arm.missing() > 0; });
  Table table{{{"arm"}}, {}};
  if (tags) table.columns.push_back({"tag"});
  table.columns.push_back({"cells", Align::Right});
  if (lacking) table.columns.push_back({"missing"});
  for (const std::string& name : metrics) {
    table.columns.push_back({name, Align::Right});
    table.columns.push_back({"n", Align::Right});
    if (!comparison.baseline_selected) continue;
    table.columns.push_back({"difference", Align::Right});
    table.columns.push_back({fmt::format("{:.0f} % interval", 100 * kConfidence)});
  }
  for (const ArmResults& arm : comparison.arms) {
    std::vector<std::string> line = {arm.arm + (arm.baseline ? " *" : "")};
    if (tags) line.push_back(arm.tag);
    line.push_back(std::to_string(arm.cells.size()));
    if (lacking) line.push_back(missing_text(arm.counts));
    for (const std::string& name : metrics) {
      const ArmMetric& metric = arm.metrics.at(name);
      line.push_back(mean_text(metric.sample));
      line.push_back(std::to_string(metric.sample.n));
      if (!comparison.baseline_selected) continue;
      const auto& d = metric.difference;
      line.push_back(d ? difference_text(*d) : "");
      line.push_back(d ? interval_text(*d) : "");
    }
    table.rows.push_back(std::move(line));
  }
  return text_of(table, colour) + explanation(listing, comparison, metrics);
}

Table arms_csv_table(const ArmComparison& comparison, const std::vector<std::string>& metrics) {
  Table table;
  for (const char* title :
       {"arm", "tag", "baseline", "cells", "completed", "missing", "metric", "n", "mean", "sd",
        "difference", "low", "high", "degrees", "pairs", "kind"}) {
    table.columns.push_back({title});
  }
  const auto number = [](double x) { return std::isnan(x) ? std::string() : shortest(x); };
  for (const ArmResults& arm : comparison.arms) {
    for (const std::string& name : metrics) {
      const ArmMetric& metric = arm.metrics.at(name);
      const MeanDifference d = metric.difference.value_or(MeanDifference{});
      const bool pairs = metric.difference && d.kind == DifferenceKind::Paired;
      table.rows.push_back(
          {arm.arm, arm.tag, arm.baseline ? "true" : "false", std::to_string(arm.cells.size()),
           std::to_string(arm.count(CellStatus::Completed)), missing_text(arm.counts), name,
           std::to_string(metric.sample.n), number(metric.sample.mean), number(metric.sample.sd),
           number(d.value), number(d.low), number(d.high), number(d.degrees),
           pairs ? std::to_string(d.n) : "",
           metric.difference ? std::string(name_of(d.kind)) : ""});
    }
  }
  return table;
}

std::string arms_json(const Listing& listing, const ArmComparison& comparison,
                      const std::vector<std::string>& metrics) {
  Json arms = Json::array();
  for (const ArmResults& arm : comparison.arms) arms.push_back(arm_json(listing, arm, metrics));
  return json_text(
             Json{{"schema", 1},
                  {"sweep", listing.sweep},
                  {"store", listing.store},
                  {"planned", listing.planned},
                  {"metric", listing.metric},
                  {"goal", listing.goal},
                  {"eval_windows", listing.eval_windows},
                  {"by", "arm"},
                  {"baseline", comparison.baseline.empty() ? Json() : Json(comparison.baseline)},
                  {"confidence", kConfidence},
                  {"arms", arms}},
             2) +
         "\n";
}

}  // namespace depthgrid
