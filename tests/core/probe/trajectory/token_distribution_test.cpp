#include "core/probe/trajectory/token_distribution.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace token_distribution_test {

TEST(TrajectoryDistribution, HasTheQuantilesOfNumPy) {
  // numpy.quantile([9, 1, 4, 2], [0.05, 0.5, 0.95])
  const TokenDistribution found = distribution_of({9, 1, 4, 2});

  EXPECT_NEAR(found.p05, 1.15, 1e-15);
  EXPECT_NEAR(found.p50, 3, 1e-15);
  EXPECT_NEAR(found.p95, 8.25, 1e-14);
  EXPECT_EQ(found.max, 9);
  EXPECT_EQ(found.mean, 4);
  EXPECT_NEAR(found.std, std::sqrt((25.0 + 9 + 0 + 4) / 4), 1e-15);
}

TEST(TrajectoryDistribution, OfOneTokenAndOfNone) {
  const TokenDistribution one = distribution_of({2.5});
  EXPECT_EQ(one.p05, 2.5);
  EXPECT_EQ(one.p95, 2.5);
  EXPECT_EQ(one.std, 0);
  const TokenDistribution none = distribution_of({});
  for (const double x : {none.mean, none.std, none.p05, none.p50, none.p95, none.max}) {
    EXPECT_TRUE(std::isnan(x));
  }
}

TEST(TrajectoryDistribution, QuantilesOfAHundredAndOneNumbersAreTheNumbers) {
  std::vector<double> sample;
  for (int i = 0; i <= 100; ++i) sample.push_back(37 * i % 101);  // 0 ... 100, mixed
  const TokenDistribution found = distribution_of(sample);

  EXPECT_NEAR(found.p05, 5, 1e-13);
  EXPECT_EQ(found.p50, 50);
  EXPECT_NEAR(found.p95, 95, 1e-13);
}

}  // namespace token_distribution_test
}  // namespace depthgrid
