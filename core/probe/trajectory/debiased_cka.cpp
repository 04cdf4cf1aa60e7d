#include "core/probe/trajectory/debiased_cka.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace depthgrid {

std::vector<double> debiased_cka(const GramSums& sums, std::int64_t tokens) {
  const auto n = static_cast<double>(tokens);
  const auto trace = sums.trace.accessor<double, 2>();
  const auto cross = sums.cross.accessor<double, 2>();
  const auto total = sums.total.accessor<double, 1>();
  const std::int64_t sets = trace.size(0);
  // The factor 1 / (n (n - 3)) cancels.
  const auto hsic = [&](std::int64_t a, std::int64_t b) {
    return trace[a][b] + total[a] * total[b] / ((n - 1) * (n - 2)) - 2 * cross[a][b] / (n - 2);
  };
  const auto root = [&](std::int64_t a) {
    const double own = hsic(a, a);
    return own > 0 ? std::sqrt(own) : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(sets * sets));
  for (std::int64_t a = 0; a < sets; ++a) {
    for (std::int64_t b = 0; b < sets; ++b) out.push_back(hsic(a, b) / (root(a) * root(b)));
  }
  return out;
}

}  // namespace depthgrid
