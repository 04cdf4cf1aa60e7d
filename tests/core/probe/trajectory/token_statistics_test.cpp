#include "core/probe/trajectory/token_statistics.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

namespace depthgrid {
namespace token_statistics_test {

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

TEST(TrajectoryClassMeans, AreOverTheTokensOfAClassThatHaveTheNumber) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor values =
      at::tensor(std::vector<double>{1, 2, 4, 8, none, none, 6, none}, at::kDouble).view({2, 4});
  const at::Tensor member =
      at::tensor(std::vector<int>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}).to(at::kBool).view({3, 4});
  ClassMeans means(2, 3);
  means.add(values.narrow(1, 0, 3), member.narrow(1, 0, 3));
  means.add(values.narrow(1, 3, 1), member.narrow(1, 3, 1));

  EXPECT_EQ(means.mean(0, 0), 15.0 / 4);
  EXPECT_EQ(means.mean(0, 1), 1.5);
  EXPECT_EQ(means.mean(1, 0), 6) << "undefined for the others";
  EXPECT_TRUE(std::isnan(means.mean(1, 1)));
  EXPECT_TRUE(std::isnan(means.mean(0, 2))) << "no tokens";
}

TEST(TrajectoryClassMeans, DoNotDependOnHowTokensAreGrouped) {
  const at::Tensor values = at::randn({3, 50}, at::kDouble), member = at::randn({2, 50}).gt(0);
  ClassMeans whole(3, 2), parts(3, 2);
  whole.add(values, member);
  for (const auto& [first, count] : {std::pair{0, 7}, {7, 1}, {8, 42}}) {
    parts.add(values.narrow(1, first, count), member.narrow(1, first, count));
  }
  for (int row = 0; row < 3; ++row) {
    for (int k = 0; k < 2; ++k) EXPECT_EQ(whole.mean(row, k), parts.mean(row, k));
  }
}

}  // namespace token_statistics_test
}  // namespace depthgrid
