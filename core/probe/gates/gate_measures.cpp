#include "core/probe/gates/gate_measures.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

constexpr double kSaturated = 0.05;  // of the range, at either end

/// Row i of (n, m).
std::span<const double> row(const at::Tensor& gates, std::int64_t i) {
  const auto m = static_cast<std::size_t>(gates.size(1));
  return {gates.const_data_ptr<double>() + static_cast<std::size_t>(i) * m, m};
}

bool finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

bool constant(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double v) { return v == values.front(); });
}

double variance_about(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size());
}

}  // namespace

GateSummary gate_summary(const at::Tensor& gates, const GateRange& range) {
  GateSummary out;
  const double width = range.high - range.low;
  for (std::int64_t i = 0; i < gates.size(0); ++i) {
    const auto values = row(gates, i);
    const bool known = finite(values);
    const double mean = known ? mean_of(values) : kNaN;
    out.mean.push_back(mean);
    out.std.push_back(known ? std::sqrt(variance_about(values, mean)) : kNaN);
    out.min.push_back(known ? std::ranges::min(values) : kNaN);
    out.max.push_back(known ? std::ranges::max(values) : kNaN);
    const auto saturated = std::ranges::count_if(values, [&](double v) {
      return v < range.low + kSaturated * width || v > range.high - kSaturated * width;
    });
    const double share = static_cast<double>(saturated) / static_cast<double>(values.size());
    out.saturation.push_back(known && width > 0 ? share : kNaN);
  }
  return out;
}

std::vector<double> histogram_centres(const GateRange& range, std::int64_t bins) {
  std::vector<double> out;
  const double width = (range.high - range.low) / static_cast<double>(bins);
  for (std::int64_t b = 0; b < bins; ++b) {
    out.push_back(range.low + (static_cast<double>(b) + 0.5) * width);
  }
  return out;
}

std::vector<double> gate_histogram(const at::Tensor& gates, const GateRange& range,
                                   std::int64_t bins) {
  const auto n = static_cast<std::size_t>(bins);
  const double scale = static_cast<double>(bins) / (range.high - range.low);
  std::vector<double> out;
  for (std::int64_t i = 0; i < gates.size(0); ++i) {
    const auto values = row(gates, i);
    const bool known = finite(values) && range.high > range.low;
    std::vector<double> shares(n, known ? 0 : kNaN);
    for (const double v : values) {
      if (!known) break;
      const double place = std::clamp((v - range.low) * scale, 0.0, static_cast<double>(bins - 1));
      shares[static_cast<std::size_t>(place)] += 1.0 / static_cast<double>(values.size());
    }
    out.insert(out.end(), shares.begin(), shares.end());
  }
  return out;
}

double depth_variance_share(const at::Tensor& gates) {
  std::vector<std::span<const double>> depths;
  for (std::int64_t i = 0; i < gates.size(0); ++i) {
    if (finite(row(gates, i))) depths.push_back(row(gates, i));
  }
  if (depths.empty()) return kNaN;
  // Not by the variance of all: the mean of equal numbers is rounded, and leaves one.
  const bool same = std::ranges::all_of(depths, [&](const auto& depth) {
    return constant(depth) && depth.front() == depths.front().front();
  });
  if (same) return kNaN;
  const std::size_t m = depths.front().size();
  std::vector<double> all;
  double over_depth = 0;
  for (std::size_t j = 0; j < m; ++j) {
    std::vector<double> factor;
    for (const auto& depth : depths) factor.push_back(depth[j]);
    over_depth += variance_about(factor, mean_of(factor)) / static_cast<double>(m);
    all.insert(all.end(), factor.begin(), factor.end());
  }
  const double total = variance_about(all, mean_of(all));
  return total > 0 ? over_depth / total : kNaN;
}

double total_variation(const at::Tensor& gates) {
  double sum = 0;
  for (std::int64_t i = 1; i < gates.size(0); ++i) {
    const auto before = row(gates, i - 1), after = row(gates, i);
    for (std::size_t j = 0; j < after.size(); ++j) sum += std::abs(after[j] - before[j]);
  }
  return std::isfinite(sum) ? sum / static_cast<double>(gates.size(1)) : kNaN;
}

std::vector<double> power_spectrum(const std::vector<double>& series) {
  const std::size_t n = series.size();
  std::vector<double> out;
  for (std::size_t k = 0; k <= n / 2; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(k * j % n) / static_cast<double>(n);
      sum += series[j] * std::polar(1.0, angle);
    }
    const bool alone = k == 0 || 2 * k == n;  // its own mirror image
    out.push_back((alone ? 1 : 2) * std::norm(sum) / static_cast<double>(n * n));
  }
  return out;
}

}  // namespace depthgrid
