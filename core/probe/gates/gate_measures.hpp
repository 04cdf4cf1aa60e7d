#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/gate_values.hpp"

namespace depthgrid {

// Statistics of the gates of one cell and one type of weight. Gates are (n, m): m factors at each
// of n depth-times, double, on the host. Depths whose gates are NaN (a step without gates) give
// NaN.

/// Mean, spread over the m factors, extremes and saturation at each depth.
struct GateSummary {
  std::vector<double> mean, std, min, max;  // (n) each; std with divisor m
  /// Share of the factors in the lowest or the highest twentieth of the range; NaN without range.
  std::vector<double> saturation;
};
GateSummary gate_summary(const at::Tensor& gates, const GateRange& range);

/// Centres of `bins` equal bins of the range.
std::vector<double> histogram_centres(const GateRange& range, std::int64_t bins);

/// Share of the factors in each bin, at each depth: (n, bins) row-major; NaN without range.
std::vector<double> gate_histogram(const at::Tensor& gates, const GateRange& range,
                                   std::int64_t bins);

/// Share of the variance of all gates that is over depth: mean over the factors of their variance
/// over depth, over the variance of all n m numbers. 0: the gates ignore depth-time; 1: all factors
/// are equal at each depth. NaN if nothing varies. Depths without gates are left out.
double depth_variance_share(const at::Tensor& gates);

/// Σ_j |g(τ_{j+1}) - g(τ_j)|, mean over the factors.
double total_variation(const at::Tensor& gates);

/// Power of a real series over frequency: |c_k|² summed over ±k, where c is its discrete Fourier
/// transform over n. The powers sum to the mean square. @param series  (n) covering one period.
/// @return n/2 + 1 numbers, for 0 ... n/2 cycles per period.
std::vector<double> power_spectrum(const std::vector<double>& series);

}  // namespace depthgrid
