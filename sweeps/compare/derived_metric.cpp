#include "sweeps/compare/derived_metric.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/cells/cell_series.hpp"
#include "storage/store.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/statistics.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

/// The curves of the completed cells among these rows.
using SeriesByRow = std::map<std::size_t, CellSeries>;

std::string metric_with_curve(const std::string& metric) {
  return metric.starts_with("final_loss.") ? "eval_loss." + metric.substr(11) : metric;
}

SeriesByRow series_of(const Listing& listing, const std::vector<std::size_t>& rows,
                      const std::string& metric) {
  SeriesByRow out;
  bool completed = false;
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status != CellStatus::Completed) continue;
    completed = true;
    const Store store = Store::open(listing.store_of(row));
    const auto file = store.cell_path(cell.id) / "result.h5";
    if (auto series = read_cell_series(file, cell.id, metric)) out.emplace(row, std::move(*series));
  }
  if (out.empty() && completed) {
    throw UserError(ExitCode::Usage,
                    fmt::format("{} has no curve: a metric of the periodic evaluation was "
                                "expected, as eval_loss.valid",
                                metric));
  }
  return out;
}

/// FLOPs or seconds at each evaluation; empty if not recorded.
std::vector<double> costs_of(const CellSummary& cell, const CellSeries& series, CurveAxis axis) {
  if (axis == CurveAxis::Time) {
    const bool known = std::ranges::none_of(series.seconds, [](double s) { return std::isnan(s); });
    return known ? series.seconds : std::vector<double>();
  }
  const auto total = cell.metrics.find("cost_flops_total");
  if (total == cell.metrics.end() || cell.step <= 0) return {};
  std::vector<double> out = series.steps;
  for (double& step : out) step *= total->second / static_cast<double>(cell.step);
  return out;
}

void require_one_machine(const Listing& listing, const SeriesByRow& series) {
  if (series.empty()) return;
  const auto& [first, reference] = *series.begin();
  for (const auto& [row, one] : series) {
    if (one.machines == reference.machines) continue;
    throw UserError(
        ExitCode::Usage,
        fmt::format("--at time: times of other devices, or of jobs of other sizes, cannot be "
                    "compared: {} ran on {}; {} on {}",
                    listing.cells[row].alias, one.machines, listing.cells[first].alias,
                    reference.machines));
  }
}

}  // namespace

DerivedMetric add_equal_cost(Listing& listing, const std::vector<std::size_t>& rows,
                             const std::string& asked, CurveAxis axis) {
  DerivedMetric out;
  out.of = metric_with_curve(asked);
  const bool flops = axis == CurveAxis::Flops;
  out.name = (flops ? "at_flops." : "at_time.") + out.of;
  const SeriesByRow all = series_of(listing, rows, out.of);
  if (!flops) require_one_machine(listing, all);
  std::map<std::size_t, EvaluationCurve> curves;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& [row, series] : all) {
    const std::vector<double> costs = costs_of(listing.cells[row], series, axis);
    if (costs.empty()) continue;
    EvaluationCurve curve(costs, series.values);
    if (curve.size() == 0) continue;
    least = std::min(least, curve.x().back());
    most = std::max(most, curve.x().back());
    curves.emplace(row, std::move(curve));
  }
  std::size_t unfinished = 0;
  for (const auto& [row, curve] : curves) {
    const std::optional<double> value = value_at(curve, least);
    if (!value) continue;
    listing.cells[row].metrics[out.name] = *value;
    unfinished += curve.x().back() > least * (1 + 1e-9) ? 1 : 0;
  }
  out.note =
      fmt::format("{} read at {} of training, the least that a cell spent (most: {})", out.of,
                  flops ? fmt::format("{:.4g} operations", least) : short_seconds(least),
                  flops ? fmt::format("{:.4g}", most) : short_seconds(most));
  if (unfinished > 0) {
    out.note += fmt::format(
        "; schedule unfinished: {} of {} cells went on from there, at learning rates that were "
        "not yet lowered as far",
        unfinished, curves.size());
  }
  return out;
}

DerivedMetric add_steps_to_target(Listing& listing, const std::vector<std::size_t>& rows,
                                  const std::string& asked, double target, MetricGoal goal) {
  DerivedMetric out;
  out.of = metric_with_curve(asked);
  out.name = "steps_to_target." + out.of;
  std::size_t n = 0;
  for (const auto& [row, series] : series_of(listing, rows, out.of)) {
    const Reached reached = steps_to_target({series.steps, series.values}, target, goal);
    if (std::isnan(reached.at)) continue;
    out.reached.emplace(row, reached);
    n += reached.reached ? 1 : 0;
    listing.cells[row].metrics[out.name] =
        reached.reached ? reached.at : std::numeric_limits<double>::infinity();
  }
  out.note = fmt::format(
      "steps until {} is {}, linear between evaluations: reached by {} of {} "
      "cells",
      out.of, shortest(target), n, out.reached.size());
  return out;
}

DerivedMetric add_late_noise(Listing& listing, const std::vector<std::size_t>& rows,
                             const std::string& asked, std::size_t k) {
  DerivedMetric out;
  out.of = metric_with_curve(asked);
  out.name = "late_noise." + out.of;
  std::map<std::string, std::vector<double>> last;  // by arm
  std::vector<double> slopes;
  for (const auto& [row, series] : series_of(listing, rows, out.of)) {
    const EvaluationCurve curve(series.steps, series.values);
    const LateNoise noise = late_noise(curve, k);
    if (std::isnan(noise.residual_sd)) continue;
    listing.cells[row].metrics[out.name] = noise.residual_sd;
    slopes.push_back(noise.slope_per_evaluation);
    last[listing.cells[row].arm].push_back(curve.y().back());
  }
  double squares = 0, degrees = 0;
  for (const auto& [arm, values] : last) {
    const SampleSummary own = summary_of(values);
    if (own.n < 2) continue;
    squares += own.sd * own.sd * static_cast<double>(own.n - 1);
    degrees += static_cast<double>(own.n - 1);
  }
  out.note = fmt::format(
      "deviation of the last {} evaluations of {} about their line, whose slope is {} per "
      "evaluation",
      k, out.of, mean_text(summary_of(slopes)));
  if (degrees > 0) {
    out.note += fmt::format("; from seed to seed, the last evaluation deviates by {:.3g}",
                            std::sqrt(squares / degrees));
  }
  return out;
}

}  // namespace depthgrid
