#include "core/probe/trajectory/token_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace depthgrid {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

TokenDistribution distribution_of(std::vector<double> sample) {
  if (sample.empty()) return {};
  const auto n = static_cast<double>(sample.size());
  const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  double squares = 0;
  for (const double x : sample) squares += (x - mean) * (x - mean);
  std::ranges::sort(sample);
  return {.mean = mean,
          .std = std::sqrt(squares / n),
          .p05 = quantile(sample, 0.05),
          .p50 = quantile(sample, 0.5),
          .p95 = quantile(sample, 0.95),
          .max = sample.back()};
}

}  // namespace depthgrid
