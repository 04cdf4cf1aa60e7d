#include "core/probe/lyapunov/sequence_moments.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include "core/base/nan.hpp"

namespace depthgrid::testing {
namespace sequence_moments_test {

TEST(SequenceMoments, CountOnlyWhatIsPresent) {
  const at::Tensor rows = at::tensor({1.0, kNaN, 3.0, kNaN, 5.0, 7.0}, at::kDouble).view({3, 2});
  const SequenceMoments found(rows);
  EXPECT_EQ(found.mean, (std::vector<double>{3, 7}));
  EXPECT_EQ(found.spread[0], 2);
  EXPECT_TRUE(std::isnan(found.spread[1]));
  EXPECT_EQ(found.most, (std::vector<double>{5, 7}));
  EXPECT_EQ(found.count, (std::vector<std::int64_t>{3, 1}));
}

TEST(SequenceMoments, OfNothingAreAbsent) {
  const SequenceMoments found(at::full({2}, kNaN, at::kDouble));
  EXPECT_TRUE(std::isnan(found.mean[0]) && std::isnan(found.most[0]));
  EXPECT_EQ(found.count[0], 0);
}

}  // namespace sequence_moments_test
}  // namespace depthgrid::testing
