#include "core/probe/lyapunov/kaplan_yorke.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/nan.hpp"

namespace depthgrid {

double kaplan_yorke(std::vector<double> exponents, std::int64_t dimension) {
  // An exponent of minus infinity is that of a direction that disappears.
  const auto unknown = [](double v) { return std::isnan(v) || (std::isinf(v) && v > 0); };
  if (std::ranges::any_of(exponents, unknown)) return kNaN;
  std::ranges::sort(exponents, std::greater{});
  double sum = 0;
  for (std::size_t j = 0; j < exponents.size(); ++j) {
    const double next = exponents[j];
    if (sum + next < 0) return static_cast<double>(j) + sum / -next;
    sum += next;
  }
  const auto known = static_cast<std::int64_t>(exponents.size());
  return known >= dimension ? static_cast<double>(dimension) : kNaN;
}

}  // namespace depthgrid
