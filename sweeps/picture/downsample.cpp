#include "sweeps/picture/downsample.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.hpp"

namespace depthgrid {

std::vector<std::size_t> m4_points(std::span<const double> x, std::span<const double> y,
                                   std::size_t most) {
  if (x.size() != y.size()) throw Error("a curve has one y for each x");
  if (most < 4) throw Error("a curve is drawn with at least four points");
  if (!std::ranges::is_sorted(x)) throw Error("the x of a curve do not decrease");
  std::vector<std::size_t> out(x.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (x.size() <= most) return out;
  out.clear();
  const std::size_t columns = most / 4;
  const double width = (x.back() - x.front()) / static_cast<double>(columns);
  const auto column_of = [&](std::size_t i) {
    if (!(width > 0)) return std::size_t{0};
    return std::min(columns - 1, static_cast<std::size_t>((x[i] - x.front()) / width));
  };
  for (std::size_t first = 0; first < x.size();) {
    std::size_t lowest = first, highest = first, end = first + 1;
    for (; end < x.size() && column_of(end) == column_of(first); ++end) {
      if (y[end] < y[lowest]) lowest = end;
      if (y[end] > y[highest]) highest = end;
    }
    const std::array<std::size_t, 4> kept = {first, std::min(lowest, highest),
                                             std::max(lowest, highest), end - 1};
    for (const std::size_t i : kept) {
      if (out.empty() || out.back() != i) out.push_back(i);
    }
    first = end;
  }
  return out;
}

}  // namespace depthgrid
