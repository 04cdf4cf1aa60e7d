#include "sweeps/compare/curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kNeverReached = std::numeric_limits<double>::infinity();

bool curve_covers(const EvaluationCurve& curve, double x) {
  return curve.size() > 0 && curve.x().front() <= x && x <= curve.x().back();
}

/// Number of the first evaluation at x or beyond.
std::size_t evaluation_from(const EvaluationCurve& curve, double x) {
  const auto found = std::ranges::lower_bound(curve.x(), x);
  return static_cast<std::size_t>(std::distance(curve.x().begin(), found));
}

void require_window(double x0, double x1) {
  if (!(x0 < x1)) throw Error("a window of a curve begins before it ends");
}

/// Least-squares line; centred, since x may be 10^18 FLOPs that differ in the last digits.
struct FittedLine {
  double slope = kNaN;
  double residual_squares = kNaN;
};

/// @param x, y  at least two, x ascending
FittedLine fitted_line(std::span<const double> x, std::span<const double> y) {
  const double mean_x = summary_of(x).mean;
  const double mean_y = summary_of(y).mean;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - mean_x) * (x[i] - mean_x);
    products += (x[i] - mean_x) * (y[i] - mean_y);
  }
  FittedLine out{.slope = products / squares, .residual_squares = 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = y[i] - mean_y - out.slope * (x[i] - mean_x);
    out.residual_squares += residual * residual;
  }
  return out;
}

/// a − b where the order is known: ±∞ for one censored, 0 for both at one budget.
std::optional<double> known_difference(const Reached& a, const Reached& b) {
  if (a.reached && b.reached) return a.at - b.at;
  if (!a.reached && !b.reached) return a.at == b.at ? std::optional(0.0) : std::nullopt;
  const Reached& censored = a.reached ? b : a;
  const Reached& reached = a.reached ? a : b;
  if (censored.at < reached.at) return std::nullopt;
  return a.reached ? -kNeverReached : kNeverReached;
}

}  // namespace

EvaluationCurve::EvaluationCurve(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw Error("a curve needs as many x as y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) throw Error("an x of a curve is not a finite number");
    if (i > 0 && !(x[i - 1] < x[i])) throw Error("the x of a curve do not ascend");
    if (!std::isfinite(y[i])) {
      ++dropped_;
      continue;
    }
    x_.push_back(x[i]);
    y_.push_back(y[i]);
  }
}

std::optional<double> value_at(const EvaluationCurve& curve, double x) {
  if (!curve_covers(curve, x)) return std::nullopt;
  const std::size_t i = evaluation_from(curve, x);
  if (curve.x()[i] == x) return curve.y()[i];
  const double x0 = curve.x()[i - 1];
  return std::lerp(curve.y()[i - 1], curve.y()[i], (x - x0) / (curve.x()[i] - x0));
}

Reached steps_to_target(const EvaluationCurve& curve, double target, MetricGoal goal) {
  if (std::isnan(target)) throw Error("a target is a number");
  if (curve.size() == 0) return {};
  const auto reaches = [&](double y) {
    return goal == MetricGoal::Minimize ? y <= target : y >= target;
  };
  const auto found = std::ranges::find_if(curve.y(), reaches);
  if (found == curve.y().end()) return {.reached = false, .at = curve.x().back()};
  const auto i = static_cast<std::size_t>(std::distance(curve.y().begin(), found));
  const double x1 = curve.x()[i];
  if (i == 0 || *found == target) return {.reached = true, .at = x1};
  const double before = curve.y()[i - 1];
  const double share = (target - before) / (*found - before);
  return {.reached = true, .at = std::lerp(curve.x()[i - 1], x1, share)};
}

std::optional<double> area_under(const EvaluationCurve& curve, double x0, double x1) {
  require_window(x0, x1);
  const std::optional<double> first = value_at(curve, x0);
  const std::optional<double> last = value_at(curve, x1);
  if (!first || !last) return std::nullopt;
  double area = 0;
  double x = x0;
  double y = *first;
  const auto add_to = [&](double next_x, double next_y) {
    area += (next_x - x) * (y / 2 + next_y / 2);
    x = next_x;
    y = next_y;
  };
  for (std::size_t i = evaluation_from(curve, x0); curve.x()[i] < x1; ++i) {
    add_to(curve.x()[i], curve.y()[i]);
  }
  add_to(x1, *last);
  return area / (x1 - x0);
}

LateNoise late_noise(const EvaluationCurve& curve, std::size_t k) {
  LateNoise out;
  if (k < 3 || curve.size() < k) return out;
  const std::span<const double> x = std::span(curve.x()).last(k);
  const std::span<const double> y = std::span(curve.y()).last(k);
  std::vector<double> numbers(k);
  for (std::size_t i = 0; i < k; ++i) numbers[i] = static_cast<double>(i);
  const FittedLine line = fitted_line(x, y);
  out.evaluations = k;
  out.slope = line.slope;
  out.slope_per_evaluation = fitted_line(numbers, y).slope;
  out.residual_sd = std::sqrt(line.residual_squares / static_cast<double>(k - 2));
  out.sd = summary_of(y).sd;
  return out;
}

double window_slope(const EvaluationCurve& curve, double x0, double x1) {
  require_window(x0, x1);
  const std::size_t begin = evaluation_from(curve, x0);
  const auto end = static_cast<std::size_t>(
      std::distance(curve.x().begin(), std::ranges::upper_bound(curve.x(), x1)));
  if (end < begin + 2) return kNaN;
  return fitted_line(std::span(curve.x()).subspan(begin, end - begin),
                     std::span(curve.y()).subspan(begin, end - begin))
      .slope;
}

CensoredComparison censored_comparison(std::span<const Reached> a, std::span<const Reached> b) {
  if (a.size() != b.size()) throw Error("pairs need two samples of one size");
  CensoredComparison out;
  std::vector<double> known;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i].at) || !std::isfinite(b[i].at)) {
      ++out.missing;
      continue;
    }
    ++out.pairs;
    out.reached_a += a[i].reached ? 1U : 0U;
    out.reached_b += b[i].reached ? 1U : 0U;
    out.reached_both += a[i].reached && b[i].reached ? 1U : 0U;
    sum += a[i].at - b[i].at;
    const std::optional<double> difference = known_difference(a[i], b[i]);
    if (difference) {
      known.push_back(*difference);
    } else {
      ++out.undecided;
    }
  }
  out.signs = sign_test(known);
  if (out.pairs == 0) return out;
  out.restricted = sum / static_cast<double>(out.pairs);
  out.low = out.reached_b == out.pairs ? out.restricted : -kNeverReached;
  out.high = out.reached_a == out.pairs ? out.restricted : kNeverReached;
  if (out.reached_both == out.pairs) out.mean = out.restricted;
  return out;
}

}  // namespace depthgrid
