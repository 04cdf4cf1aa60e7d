#include "core/depth/treeverse.hpp"

#include <algorithm>

namespace depthgrid::treeverse {
namespace {

/// Longest chain that s slots reverse with each step advanced at most r times: C(s + r, s).
std::int64_t longest(std::int64_t s, std::int64_t r) {
  if (r < 0 || s < 0) return 0;
  std::int64_t out = 1;
  for (std::int64_t i = 1; i <= s; ++i) {
    out = out * (r + i) / i;
    if (out > (std::int64_t{1} << 40)) break;  // longer than any depth
  }
  return out;
}

std::int64_t repetitions(std::int64_t steps, std::int64_t slots) {
  std::int64_t r = 0;
  while (longest(slots, r) < steps) ++r;
  return r;
}

}  // namespace

std::int64_t cut(std::int64_t steps, std::int64_t slots) {
  const std::int64_t r = repetitions(steps, slots);
  return std::max({std::int64_t{1}, longest(slots, r - 2), steps - longest(slots - 1, r)});
}

std::int64_t advances(std::int64_t steps, std::int64_t slots) {
  const std::int64_t r = repetitions(steps, slots);
  return r * steps - longest(slots + 1, r - 1);
}

std::vector<std::int64_t> kept(std::int64_t steps, std::int64_t slots) {
  std::vector<std::int64_t> out;
  std::int64_t at = 0;
  while (steps - at > 1 && slots > 1) {
    at += cut(steps - at, slots--);
    out.push_back(at);
  }
  return out;
}

}  // namespace depthgrid::treeverse
