#include "sweeps/compare/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// Sets the two-sided t interval around the value.
void set_interval(MeanDifference& out, double standard_error, double degrees) {
  const boost::math::students_t distribution(degrees);
  const double half = standard_error * boost::math::quantile(distribution, 0.5 + kConfidence / 2);
  out.degrees = degrees;
  out.low = out.value - half;
  out.high = out.value + half;
}

}  // namespace

SampleSummary summary_of(std::span<const double> sample) {
  SampleSummary out;
  out.n = sample.size();
  if (out.n == 0) return out;
  const auto n = static_cast<double>(out.n);
  out.mean = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  if (out.n < 2) return out;
  double squares = 0;
  for (const double x : sample) squares += (x - out.mean) * (x - out.mean);
  out.sd = std::sqrt(squares / (n - 1));
  return out;
}

MeanDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw Error("pairs need two samples of one size");
  std::vector<double> differences(a.size());
  std::ranges::transform(a, b, differences.begin(), std::minus<>());
  const SampleSummary summary = summary_of(differences);
  MeanDifference out{.kind = DifferenceKind::Paired, .n = summary.n, .value = summary.mean};
  const auto n = static_cast<double>(summary.n);
  if (summary.n >= 2) set_interval(out, summary.sd / std::sqrt(n), n - 1);
  return out;
}

MeanDifference welch_difference(std::span<const double> a, std::span<const double> b) {
  const SampleSummary first = summary_of(a);
  const SampleSummary second = summary_of(b);
  MeanDifference out{.kind = DifferenceKind::Welch, .n = std::min(first.n, second.n)};
  out.value = first.mean - second.mean;
  if (out.n < 2) return out;
  const auto na = static_cast<double>(first.n);
  const auto nb = static_cast<double>(second.n);
  const double va = first.sd * first.sd / na;  // variances of the means
  const double vb = second.sd * second.sd / nb;
  const double both = va + vb;
  const double degrees =
      both > 0 ? both * both / (va * va / (na - 1) + vb * vb / (nb - 1)) : na + nb - 2;
  set_interval(out, std::sqrt(both), degrees);
  return out;
}

}  // namespace depthgrid
