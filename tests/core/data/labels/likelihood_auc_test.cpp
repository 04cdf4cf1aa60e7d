// AUC by mid-ranks, and its interval over blocks.
#include "core/data/labels/likelihood_auc.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/data/random_words.hpp"

namespace depthgrid {
namespace likelihood_auc_test {

using Flags = std::vector<std::int8_t>;

TEST(AreaUnderCurve, CountsPairsAndHalfOfTies) {
  EXPECT_EQ(area_under_curve(std::vector{1.0, 2.0, 3.0, 4.0}, Flags{0, 0, 1, 1}), 1);
  EXPECT_EQ(area_under_curve(std::vector{1.0, 2.0, 3.0, 4.0}, Flags{1, 1, 0, 0}), 0);
  // Pairs of (positive, negative): (2, 1) won, (2, 3) lost, (3, 1) won, (3, 3) even.
  EXPECT_EQ(area_under_curve(std::vector{1.0, 2.0, 3.0, 3.0}, Flags{0, 1, 0, 1}), 2.5 / 4);
}

TEST(AreaUnderCurve, OfEqualScoresIsOneHalfExactly) {
  EXPECT_EQ(area_under_curve(std::vector<double>(7, 3.25), Flags{0, 1, 1, 0, 1, 1, 1}), 0.5);
}

TEST(AreaUnderCurve, LeavesOutWhatIsNoCase) {
  const double nan = std::nan("");
  EXPECT_EQ(area_under_curve(std::vector{nan, 1.0, 0.0, 5.0}, Flags{1, 1, 0, -1}), 1);
  EXPECT_TRUE(std::isnan(area_under_curve(std::vector{1.0, 2.0}, Flags{1, 1})));
  EXPECT_TRUE(std::isnan(area_under_curve(std::vector<double>{}, Flags{})));
}

TEST(AreaUnderCurve, HasAnIntervalThatHoldsTheTruthAboutAsOftenAsItSays) {
  const RandomWords random(1, "test");
  int holds = 0;
  constexpr int kTries = 200;
  for (std::uint32_t t = 0; t < kTries; ++t) {
    std::vector<double> scores;
    Flags flags;
    for (std::uint32_t i = 0; i < 400; ++i) {  // positive ones are x², so that P(x² > y) = 1/3
      const bool positive = i % 3 == 0;
      const double x = random.unit(i, t, 0);
      scores.push_back(positive ? x * x : x);
      flags.push_back(positive ? 1 : 0);
    }
    const AreaUnderCurve area = area_with_interval(scores, flags, 10, 300, 7);
    EXPECT_LT(area.low, area.high);
    holds += area.low <= 1.0 / 3 && 1.0 / 3 <= area.high ? 1 : 0;
  }
  EXPECT_GE(holds, kTries * 88 / 100);
  EXPECT_LE(holds, kTries * 99 / 100);
}

TEST(AreaUnderCurve, HasNoIntervalOverAFewBlocks) {
  const AreaUnderCurve area =
      area_with_interval(std::vector{1.0, 2.0, 3.0, 4.0}, Flags{0, 1, 0, 1}, 2, 100, 1);
  EXPECT_EQ(area.auc, .75);
  EXPECT_TRUE(std::isnan(area.low));
}

}  // namespace likelihood_auc_test
}  // namespace depthgrid
