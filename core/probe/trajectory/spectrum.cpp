#include "core/probe/trajectory/spectrum.hpp"

#include <cmath>
#include <cstdint>
#include <span>

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvalsh.h>

namespace depthgrid {

Spectrum spectrum_of(const at::Tensor& scatter) {
  const at::Tensor host = scatter.cpu();
  if (!at::isfinite(host).all().item<bool>()) return {};  // LAPACK may not return from these
  const at::Tensor squares = at::linalg_eigvalsh(host).contiguous();  // ascending
  const auto k = static_cast<std::size_t>(squares.size(0));
  const std::span<const double> all(squares.const_data_ptr<double>(), k);
  const double floor = static_cast<double>(k) * std::numeric_limits<double>::epsilon() * all.back();
  if (!(all.back() > 0)) return {};

  double sum = 0, sum2 = 0, sum4 = 0;
  for (const double square : all) {
    if (square <= floor) continue;
    sum += std::sqrt(square);
    sum2 += square;
    sum4 += square * square;
  }
  double entropy = 0;
  for (const double square : all) {
    if (square <= floor) continue;
    const double p = std::sqrt(square) / sum;
    entropy -= p * std::log(p);
  }
  return {.effective_rank = std::exp(entropy), .participation_ratio = sum2 * sum2 / sum4};
}

}  // namespace depthgrid
