#include "sweeps/compare/derived_metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "storage/store.hpp"
#include "sweeps/compare/design.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/statistics.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

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

/// "3 of 15 cells".
std::string share_of(std::size_t some, std::size_t all) {
  return fmt::format("{} of {} cells", some, all);
}

/// The smallest total of some cells, and the largest.
struct CostRange {
  double least = std::numeric_limits<double>::infinity(), most = 0;
};

/// Readings at one cost: what there is to say of them.
struct ReadingCounts {
  std::size_t cells = 0;       // with a curve along the cost
  std::size_t unfinished = 0;  // whose learning rate changed after that
  std::size_t early = 0;       // read between step 0 and the first evaluation after it
  std::size_t none = 0;        // without an evaluation that early
};

std::string range_text(const CostRange& range, const std::string& machine, bool flops) {
  const auto text = [flops](double cost) {
    return flops ? fmt::format("{:.4g} operations", cost) : short_seconds(cost);
  };
  return fmt::format("{}{} (most: {})", text(range.least), machine.empty() ? "" : " on " + machine,
                     text(range.most));
}

std::string counts_text(const ReadingCounts& counts) {
  std::string out;
  if (counts.unfinished > 0) {
    out += fmt::format(
        "; schedule unfinished: {} went on from there at learning rates that still "
        "changed",
        share_of(counts.unfinished, counts.cells));
  }
  if (counts.early > 0) {
    out += fmt::format(
        "; of {} it lies between step 0 and the first evaluation, so it is read off "
        "the straight line between these",
        share_of(counts.early, counts.cells));
  }
  if (counts.none > 0) {
    out += fmt::format("; {} have no evaluation that early", share_of(counts.none, counts.cells));
  }
  return out;
}

/// Whether x lies inside the stretch from step 0 to the first evaluation after it.
bool is_before_first_evaluation(const EvaluationCurve& curve, double x) {
  return curve.size() > 1 && curve.x().front() == 0 && x > 0 && x < curve.x()[1];
}

/// The value of a leaf of the training in a cell; null pointer if it is not known.
const Value* trained_with(const Listing& listing, std::size_t row, std::string_view leaf) {
  const Value* const own = level_of(listing, row, leaf);
  return own != nullptr ? own : find_key(listing.constant, leaf);
}

std::optional<double> number_of(const Value* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->number();
}

}  // namespace

std::string metric_with_curve(const std::string& metric) {
  return metric.starts_with("final_loss.") ? "eval_loss." + metric.substr(11) : metric;
}

CurvesByRow read_curves(const Listing& listing, const std::vector<std::size_t>& rows,
                        const std::string& metric) {
  CurvesByRow out;
  bool completed = false;
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status != CellStatus::Completed) continue;
    completed = true;
    const Store store = Store::open(listing.store_of(row));
    const auto file = store.cell_path(cell.id) / "result.h5";
    if (auto series = read_cell_series(file, cell.id, metric, store.fs()))
      out.emplace(row, std::move(*series));
  }
  if (out.empty() && completed) {
    throw UserError(ExitCode::Usage,
                    fmt::format("{} has no curve: a metric of the periodic evaluation was "
                                "expected, as eval_loss.valid",
                                metric));
  }
  return out;
}

DerivedMetric add_equal_cost(Listing& listing, const CurvesByRow& all, const std::string& metric,
                             CurveAxis axis) {
  DerivedMetric out;
  out.of = metric;
  const bool flops = axis == CurveAxis::Flops;
  out.name = (flops ? "at_flops." : "at_time.") + out.of;
  std::map<std::size_t, EvaluationCurve> curves, steps;
  std::map<std::string, CostRange> ranges;  // by machine; of operations there is one
  for (const auto& [row, series] : all) {
    const std::vector<double> costs = costs_of(listing.cells[row], series, axis);
    if (costs.empty()) continue;
    EvaluationCurve curve(costs, series.values);
    if (curve.size() == 0) continue;
    out.times.machines[row] = flops ? "" : series.machines;
    if (!flops) {
      for (const std::string& job : series.jobs) {
        out.times.jobs[row].push_back(listing.store_of(row) + ' ' + job);
      }
    }
    CostRange& range = ranges[out.times.machines[row]];
    range.least = std::min(range.least, curve.x().back());
    range.most = std::max(range.most, curve.x().back());
    steps.emplace(row, EvaluationCurve(costs, series.steps));
    curves.emplace(row, std::move(curve));
  }
  ReadingCounts counts;
  for (const auto& [row, curve] : curves) {
    ++counts.cells;
    const double least = ranges[out.times.machines[row]].least;
    const std::optional<double> value = value_at(curve, least);
    if (!value) {
      ++counts.none;
      continue;
    }
    listing.cells[row].metrics[out.name] = *value;
    const double step = value_at(steps.at(row), least).value_or(0);
    const bool went_on = curve.x().back() > least * (1 + 1e-9);
    counts.unfinished += went_on && rate_changes_after(listing, row, step) ? 1 : 0;
    counts.early += is_before_first_evaluation(curve, least) ? 1 : 0;
  }
  if (counts.cells < all.size()) {
    out.lacking = fmt::format("{} recorded no {}", share_of(all.size() - counts.cells, all.size()),
                              flops ? "operations" : "times of their evaluations");
  } else if (counts.none > 0) {
    out.lacking = fmt::format("{} have no evaluation as early as the cheapest cell ended",
                              share_of(counts.none, all.size()));
  }
  if (flops) out.times.machines.clear();
  if (counts.cells == 0) return out;
  std::vector<std::string> texts;
  for (const auto& [machine, range] : ranges) {
    texts.push_back(range_text(range, ranges.size() > 1 ? machine : "", flops));
  }
  out.note = fmt::format("{} read at {} of training, the least that a cell spent{}", out.of,
                         fmt::join(texts, ", at "), counts_text(counts));
  return out;
}

DerivedMetric add_steps_to_target(Listing& listing, const CurvesByRow& all,
                                  const std::string& metric, double target, MetricGoal goal) {
  DerivedMetric out;
  out.of = metric;
  out.name = "steps_to_target." + out.of;
  std::size_t n = 0, early = 0;
  for (const auto& [row, series] : all) {
    const EvaluationCurve curve(series.steps, series.values);
    const Reached reached = steps_to_target(curve, target, goal);
    if (std::isnan(reached.at)) continue;
    out.reached.emplace(row, reached);
    n += reached.reached ? 1 : 0;
    early += reached.reached && is_before_first_evaluation(curve, reached.at) ? 1 : 0;
    listing.cells[row].metrics[out.name] =
        reached.reached ? reached.at : std::numeric_limits<double>::infinity();
  }
  if (out.reached.size() < all.size()) {
    out.lacking = share_of(all.size() - out.reached.size(), all.size()) + " have no evaluation";
  }
  if (out.reached.empty()) return out;
  out.note = fmt::format("steps until {} is {}, linear between evaluations: reached by {}{}",
                         out.of, shortest(target), share_of(n, out.reached.size()),
                         counts_text({.cells = out.reached.size(), .early = early}));
  return out;
}

DerivedMetric add_late_noise(Listing& listing, const CurvesByRow& all, const std::string& metric,
                             std::size_t k) {
  DerivedMetric out;
  out.of = metric;
  out.name = "late_noise." + out.of;
  std::map<std::string, std::vector<double>> last;  // by arm
  std::vector<double> slopes;
  std::size_t fewest = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const auto& [row, series] : all) {
    const EvaluationCurve curve(series.steps, series.values);
    const LateNoise noise = late_noise(curve, k);
    if (std::isnan(noise.residual_sd)) {
      fewest = std::min(fewest, curve.size());
      most = std::max(most, curve.size());
      continue;
    }
    listing.cells[row].metrics[out.name] = noise.residual_sd;
    slopes.push_back(noise.slope_per_evaluation);
    last[listing.cells[row].arm].push_back(curve.y().back());
  }
  if (slopes.size() < all.size()) {
    out.lacking = fmt::format(
        "{} have {} evaluations, --last {} needs {}",
        share_of(all.size() - slopes.size(), all.size()),
        fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most), k, k);
  }
  if (slopes.empty()) return out;
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

bool rate_changes_after(const Listing& listing, std::size_t row, double step) {
  const auto leaf = [&](std::string_view name) { return trained_with(listing, row, name); };
  const Value* const kind = leaf("train.schedule.kind");
  if (kind == nullptr) return true;
  const double warmup = number_of(leaf("train.schedule.warmup_steps")).value_or(0);
  if (step < warmup) return true;
  const std::optional<double> decay = number_of(leaf("train.schedule.decay_steps"));
  const bool flat = number_of(leaf("train.schedule.final_ratio")) == 1.0 || decay == 0.0;
  if (plain_text(*kind) == "constant" || flat) return false;
  const bool ends_with_the_training = plain_text(*kind) == "wsd" || !decay;
  return ends_with_the_training || step < warmup + *decay;
}

}  // namespace depthgrid
