#include "sweeps/compare/arms_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "core/base/printable.hpp"
#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/report/evaluation_windows.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/provenance_notes.hpp"
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

std::string text_of_difference(const MeanDifference& d) {
  return difference_text(d.value, (d.high - d.low) / 2);
}

std::string text_of_interval(const MeanDifference& d) {
  return interval_text({d.low, d.high}) +
         (d.kind == DifferenceKind::Welch && !std::isnan(d.low) ? " w" : "");
}

/// Of the cells whose figures are shown beside it; where none has completed, operations are those
/// of any cell.
std::string cost_text(const Listing& listing, const ArmResults& arm, const std::string& name) {
  const auto at = arm.metrics.find(name);
  if (at != arm.metrics.end() && !std::isnan(at->second.sample.mean)) {
    return short_number(at->second.sample.mean);
  }
  for (const std::size_t row : arm.cells) {
    const auto& metrics = listing.cells[row].metrics;
    if (name.starts_with("cost_flops_token") && metrics.contains(name)) {
      return short_number(metrics.at(name));
    }
  }
  return "-";
}

Json number_json(double number) {
  return std::isnan(number) ? Json() : Json(number);
}

Json sample_json(const SampleSummary& sample) {
  return {{"n", sample.n}, {"mean", number_json(sample.mean)}, {"sd", number_json(sample.sd)}};
}

Json difference_json(const ArmMetric& metric) {
  if (!metric.difference) return {};
  const MeanDifference& d = *metric.difference;
  return {{"kind", name_of(d.kind)},
          {"n", d.n},
          {"value", d.value},
          {"low", number_json(d.low)},
          {"high", number_json(d.high)},
          {"degrees", number_json(d.degrees)},
          {"baseline", sample_json(metric.baseline)},
          {"seeds", metric.pairs},
          {"measurements", metric.measurements},
          {"left_out", {{"arm", metric.left_out}, {"baseline", metric.baseline_left_out}}}};
}

Json refusal_json(const BasisMismatch& refused) {
  if (!refused) return {};
  Json differs = Json::array();
  for (const auto& [name, mine, theirs] : refused.differences) {
    differs.push_back({{"what", name},
                       {"arm", parse_ordered_json(canonical_json(mine))},
                       {"baseline", parse_ordered_json(canonical_json(theirs))}});
  }
  return {{"differs", differs}, {"advice", refused.advice.empty() ? Json() : Json(refused.advice)}};
}

/// Trainable parameters, the same in all cells of an arm; null while none has said so.
Json arm_parameters(const Listing& listing, const ArmResults& arm) {
  for (const std::size_t row : arm.cells) {
    if (const auto n = listing.cells[row].parameters; n > 0) return n;
  }
  return {};
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
    Json& json = numbers[name] = sample_json(metric.sample);
    json["difference"] = difference_json(metric);
    json["all"] = sample_json(metric.all);
    json["refused"] = refusal_json(metric.mixed ? metric.mixed : metric.refused);
  }
  ValueMap overrides = listing.cells[arm.cells.front()].overrides;
  std::erase_if(overrides, [](const auto& entry) { return entry.first == "seed"; });
  return {{"arm", arm.name},
          {"tag", arm.tag.empty() ? Json() : Json(arm.tag)},
          {"baseline", arm.baseline},
          {"cells", arm.cells.size()},
          {"counts", counts},
          {"seeds", arm.seeds},
          {"parameters", arm_parameters(listing, arm)},
          {"overrides", parse_ordered_json(canonical_json(overrides))},
          {"metrics", numbers}};
}

std::vector<std::size_t> compared_cells(const ArmComparison& comparison) {
  std::vector<std::size_t> out;
  for (const ArmResults& arm : comparison.arms) {
    out.insert(out.end(), arm.cells.begin(), arm.cells.end());
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
    if (key == "arm") return arm.name;
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
      any([](const ArmResults& arm) { return !arm.tag.empty() && arm.tag != arm.name; });
  const bool lacking = any([](const ArmResults& arm) { return arm.missing() > 0; });
  const bool partial = leaves_seeds_out(comparison, metrics);
  const bool matched = !listing.matched.empty();
  const std::vector<std::string> costs = cost_metrics(listing);
  Table table{{{"arm"}}, {}};
  if (tags) table.columns.push_back({"tag"});
  table.columns.push_back({"cells", Align::Right});
  if (lacking) table.columns.push_back({"missing"});
  if (matched) {
    table.columns.push_back({"parameters", Align::Right});
    for (const std::string& cost : costs) table.columns.push_back({cost, Align::Right});
  }
  for (const std::string& name : metrics) {
    table.columns.push_back({name, Align::Right});
    table.columns.push_back({"n", Align::Right});
    if (!comparison.baseline_selected) continue;
    if (partial) table.columns.push_back({"baseline", Align::Right});
    table.columns.push_back({"difference", Align::Right});
    table.columns.push_back({fmt::format("{:.0f} % interval", 100 * kConfidence)});
  }
  for (const ArmResults& arm : comparison.arms) {
    std::vector<std::string> line = {arm.name + (arm.baseline ? " *" : "")};
    if (tags) line.push_back(arm.tag);
    line.push_back(std::to_string(arm.cells.size()));
    if (lacking) line.push_back(missing_text(arm.counts));
    if (matched) {
      const Json parameters = arm_parameters(listing, arm);
      line.push_back(parameters.is_null() ? "-" : grouped(parameters.get<std::int64_t>()));
      for (const std::string& cost : costs) line.push_back(cost_text(listing, arm, cost));
    }
    for (const std::string& name : metrics) {
      const ArmMetric& metric = arm.metrics.at(name);
      line.push_back(mean_text(metric.sample));
      line.push_back(std::to_string(metric.sample.n));
      if (!comparison.baseline_selected) continue;
      const auto& d = metric.difference;
      if (partial) line.push_back(d ? mean_text(metric.baseline) : "");
      line.push_back(d ? text_of_difference(*d) : metric.refused || metric.mixed ? "refused" : "");
      line.push_back(d ? text_of_interval(*d) : "");
    }
    table.rows.push_back(std::move(line));
  }
  return text_of(table, colour) + printable(arms_notes(listing, comparison, metrics));
}

Table arms_csv_table(const ArmComparison& comparison, const std::vector<std::string>& metrics) {
  Table table;
  for (const char* title : {"arm",
                            "tag",
                            "baseline",
                            "cells",
                            "completed",
                            "missing",
                            "metric",
                            "n",
                            "mean",
                            "sd",
                            "difference",
                            "low",
                            "high",
                            "degrees",
                            "pairs",
                            "kind",
                            "baseline_mean",
                            "left_out",
                            "baseline_left_out",
                            "refused"}) {
    table.columns.push_back({title});
  }
  for (const ArmResults& arm : comparison.arms) {
    for (const std::string& name : metrics) {
      const ArmMetric& metric = arm.metrics.at(name);
      const MeanDifference d = metric.difference.value_or(MeanDifference{});
      const bool pairs = metric.difference && d.kind == DifferenceKind::Paired;
      table.rows.push_back(
          {arm.name,
           arm.tag,
           arm.baseline ? "true" : "false",
           std::to_string(arm.cells.size()),
           std::to_string(arm.count(CellStatus::Completed)),
           missing_text(arm.counts),
           name,
           std::to_string(metric.sample.n),
           exact_number(metric.sample.mean),
           exact_number(metric.sample.sd),
           exact_number(d.value),
           exact_number(d.low),
           exact_number(d.high),
           exact_number(d.degrees),
           pairs ? std::to_string(d.n) : "",
           metric.difference ? std::string(name_of(d.kind)) : "",
           exact_number(metric.baseline.mean),
           fmt::format("{}", fmt::join(metric.left_out, " ")),
           fmt::format("{}", fmt::join(metric.baseline_left_out, " ")),
           metric.mixed ? metric.mixed.text(BasisMismatch::kInOtherSeed) : metric.refused.text()});
    }
  }
  return table;
}

std::string arms_json(const Listing& listing, const ArmComparison& comparison,
                      const std::vector<std::string>& metrics,
                      const std::vector<TwoStageAnswer>& staged) {
  Json arms = Json::array();
  for (const ArmResults& arm : comparison.arms) arms.push_back(arm_json(listing, arm, metrics));
  const std::vector<std::size_t> shown = compared_cells(comparison);
  return json_text(
             Json{{"schema", 1},
                  {"sweep", listing.sweep},
                  {"store", listing.store},
                  {"planned", listing.planned},
                  {"metric", listing.metric},
                  {"goal", listing.goal},
                  {"eval_windows", eval_windows(listing, shown)},
                  {"older_text_rules", older_text_rules(listing, shown)},
                  {"mixed_settings", mixed_settings(listing, shown)},
                  {"by", "arm"},
                  {"baseline", comparison.baseline.empty() ? Json() : Json(comparison.baseline)},
                  {"confidence", kConfidence},
                  {"arms", arms},
                  {"until_ci", two_stage_json(listing, staged)}},
             2) +
         "\n";
}

}  // namespace depthgrid
