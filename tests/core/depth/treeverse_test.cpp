#include "core/depth/treeverse.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid::treeverse {
namespace treeverse_test {

/// Advances of a reversal that cuts as the program does.
std::int64_t counted(std::int64_t steps, std::int64_t slots) {
  if (steps == 1) return 0;
  if (slots == 1) return steps * (steps - 1) / 2;
  const std::int64_t before = cut(steps, slots);
  return before + counted(steps - before, slots - 1) + counted(before, slots);
}

/// The least number of advances, by trying every cut.
std::int64_t least(std::int64_t steps, std::int64_t slots) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  if (steps == 1) return 0;
  if (slots == 1) return steps * (steps - 1) / 2;
  const auto [at, added] = known.try_emplace({steps, slots}, 0);
  if (!added) return at->second;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t c = 1; c < steps; ++c) {
    best = std::min(best, c + least(steps - c, slots - 1) + least(c, slots));
  }
  return known[{steps, slots}] = best;
}

TEST(Treeverse, TakesTheLeastNumberOfSteps) {
  for (std::int64_t steps = 1; steps <= 70; ++steps) {
    for (std::int64_t slots = 1; slots <= 8; ++slots) {
      EXPECT_EQ(counted(steps, slots), least(steps, slots)) << steps << " steps, " << slots;
      EXPECT_EQ(advances(steps, slots), least(steps, slots)) << steps << " steps, " << slots;
    }
  }
}

TEST(Treeverse, HasTheCountsOfTheLiterature) {
  EXPECT_EQ(advances(16, 4), 27);
  EXPECT_EQ(advances(64, 6), 156);
  EXPECT_EQ(advances(32, 5), 68);
  EXPECT_EQ(advances(8, 1), 28);
  EXPECT_EQ(advances(64, 64), 63);
}

TEST(Treeverse, TheFirstSweepKeepsAsManyStatesAsThereAreSlots) {
  EXPECT_TRUE(kept(16, 1).empty());
  EXPECT_EQ(kept(4, 4), (std::vector<std::int64_t>{1, 2, 3}));
  for (const std::int64_t slots : {2, 3, 5, 8}) {
    const auto at = kept(64, slots);
    EXPECT_EQ(at.size(), static_cast<std::size_t>(slots - 1));
    EXPECT_TRUE(std::ranges::is_sorted(at));
    EXPECT_LT(at.back(), 64);
  }
}

}  // namespace treeverse_test
}  // namespace depthgrid::treeverse
