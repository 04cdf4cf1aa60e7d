#include "sweeps/page/target_steps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

constexpr int kTargetDigits = 4;

/// Four digits, towards what is easier to reach.
double rounded_target(double value, bool maximize) {
  if (value == 0) return 0;
  const double exponent = std::floor(std::log10(std::abs(value))) - (kTargetDigits - 1);
  const double unit = std::pow(10.0, exponent);
  const double units = maximize ? std::floor(value / unit) : std::ceil(value / unit);
  const double out = std::stod(fmt::format("{:.{}g}", units * unit, kTargetDigits));
  const bool reached = maximize ? out <= value : out >= value;  // rounding may have crossed it
  return reached ? out : value;
}

/// Without the arms whose figures cannot be compared: a target for them would be none of the rest.
CurvesByRow compared_curves(const Comparison& by_arm, const CurvesByRow& curves) {
  CurvesByRow out;
  for (const ComparedRow& row : by_arm.effects.front().rows) {
    if (row.evidence && row.evidence->pairs.refused) continue;
    for (const std::size_t cell : row.group.cells) {
      const auto at = curves.find(cell);
      if (at != curves.end()) out.insert(*at);
    }
  }
  return out;
}

}  // namespace

std::optional<double> common_target(const CurvesByRow& curves, MetricGoal goal) {
  const bool maximize = goal == MetricGoal::Maximize;
  double worst = kNaN;
  for (const auto& [row, series] : curves) {
    double best = kNaN;
    for (const double value : series.values) {
      if (!std::isfinite(value)) continue;
      best = std::isnan(best) ? value : maximize ? std::max(best, value) : std::min(best, value);
    }
    if (std::isnan(best)) continue;
    worst = std::isnan(worst) ? best : maximize ? std::min(worst, best) : std::max(worst, best);
  }
  if (std::isnan(worst)) return std::nullopt;
  return rounded_target(worst, maximize);
}

std::optional<TargetSteps> target_steps(Listing listing, const std::vector<std::size_t>& rows,
                                        const ComparisonQuery& query, const Comparison& by_arm,
                                        const CurvesByRow& all) {
  const CurvesByRow curves = compared_curves(by_arm, all);
  const std::string metric = metric_with_curve(by_arm.metric);
  const MetricGoal goal = by_arm.goal == "maximize" ? MetricGoal::Maximize : MetricGoal::Minimize;
  const std::optional<double> target = common_target(curves, goal);
  if (!target) return std::nullopt;
  DerivedMetric derived = add_steps_to_target(listing, curves, metric, *target, goal);
  // Cells that begin there, from weights of another arm, say nothing of steps.
  const bool at_once = std::ranges::any_of(derived.reached, [&curves](const auto& one) {
    return one.second.reached && one.second.at <= curves.at(one.first).steps.front();
  });
  if (at_once) return std::nullopt;
  ComparisonQuery steps = query;
  steps.by = {"arm"};
  steps.metric.clear();
  steps.goal = "minimize";
  steps.margin.reset();  // in the unit of the other metric
  steps.derived = std::move(derived);
  return TargetSteps{*target, compare_cells(listing, rows, steps)};
}

}  // namespace depthgrid
