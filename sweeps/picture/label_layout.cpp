#include "sweeps/picture/label_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace depthgrid {
namespace {

/// Neighbours that share one value: their mean.
struct LabelPool {
  double sum = 0;
  std::size_t count = 0;
  double mean() const { return sum / static_cast<double>(count); }
};

}  // namespace

std::vector<double> spread_apart(std::span<const double> wanted, double distance, double low,
                                 double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  std::vector<LabelPool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({.sum = wanted[order[i]] - static_cast<double>(i) * distance, .count = 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      LabelPool& before = pools[pools.size() - 2];
      before.sum += pools.back().sum;
      before.count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> out(wanted.size());
  const double room = high - static_cast<double>(wanted.size()) * distance + distance;
  std::size_t i = 0;
  for (const LabelPool& pool : pools) {
    const double place = std::max(low, std::min(pool.mean(), room));
    for (std::size_t k = 0; k < pool.count; ++k, ++i)
      out[order[i]] = place + static_cast<double>(i) * distance;
  }
  return out;
}

}  // namespace depthgrid
