#include "sweeps/compare/contrast_evidence.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace contrast_evidence_test {

TEST(ContrastEvidence, TheDetectableEffectIsSolvedOnceForEachNumberOfPairs) {
  DetectableEffects effects;
  for (const std::size_t n : {5U, 3U, 5U, 12U, 3U}) {
    for (const double sd : {0.5, 2.0, 1e-7}) {
      EXPECT_DOUBLE_EQ(effects.of(n, sd), detectable_effect(n, sd, kVerdictLevel)) << n;
    }
  }
  EXPECT_EQ(effects.solved(), 3U);
  EXPECT_TRUE(std::isnan(effects.of(1, 0.5)) && std::isnan(effects.of(7, 0)));
  EXPECT_TRUE(std::isnan(effects.of(7, kNaN)));
  EXPECT_EQ(effects.solved(), 3U) << "nothing is solved for what has no spread";
}

}  // namespace contrast_evidence_test
}  // namespace depthgrid
