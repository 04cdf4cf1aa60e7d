#include "core/probe/lyapunov/kaplan_yorke.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace kaplan_yorke_test {

TEST(KaplanYorke, IsTheKnownDimensionOfLorenzAndHenon) {
  EXPECT_NEAR(kaplan_yorke({0.9056, 0, -14.5723}, 3), 2 + 0.9056 / 14.5723, 1e-12);
  EXPECT_NEAR(kaplan_yorke({-1.6232, 0.4192}, 2), 1 + 0.4192 / 1.6232, 1e-12);  // in any order
}

TEST(KaplanYorke, AContractingSystemHasDimensionZero) {
  verdict(32, "Kaplan–Yorke, all exponents negative", kaplan_yorke({-0.1, -2}, 2), exactly(0));
  EXPECT_EQ(kaplan_yorke({-0.1}, 100), 0);
}

TEST(KaplanYorke, AnExpandingSystemFillsTheSpace) {
  EXPECT_EQ(kaplan_yorke({0.5, 0.25, 0}, 3), 3);
  EXPECT_EQ(kaplan_yorke({0.5, -0.5}, 2), 2);
}

TEST(KaplanYorke, IsUndeterminedIfTheExponentsEndTooEarly) {
  verdict(32, "Kaplan–Yorke, two positive exponents of three: undetermined, NaN (1)",
          std::isnan(kaplan_yorke({0.5, 0.25}, 3)) ? 1 : 0, exactly(1));
  EXPECT_TRUE(std::isnan(kaplan_yorke({0.5, kNaN, -9}, 3)));
  EXPECT_TRUE(std::isnan(kaplan_yorke({}, 3)));
  EXPECT_NEAR(kaplan_yorke({0.5, -1}, 1000), 1.5, 1e-12);  // a negative sum is enough
  EXPECT_EQ(kaplan_yorke({1, -INFINITY}, 2), 1);           // a direction that dies at once
}

}  // namespace kaplan_yorke_test
}  // namespace depthgrid::testing
