#include "models/routing/execution_masks.hpp"

#include <gtest/gtest.h>

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

namespace depthgrid::testing {
namespace execution_masks_test {

/// (1, 1, T) from 0 and 1.
at::Tensor mask(const std::vector<int>& bits) {
  return at::tensor(bits, at::kInt).gt(0).view({1, 1, -1});
}

TEST(ExecutionMasks, OfTwoLayersThatAreKnown) {
  const ExecutionMasks masks = {mask({1, 0, 0, 0, 1, 0, 0, 0, 0, 1}),
                                mask({1, 1, 0, 0, 1, 0, 1, 1, 0, 1})};
  EXPECT_EQ(unexecuted_shares(masks), std::vector<double>{0.4});
  EXPECT_EQ(longest_skips(masks), std::vector<double>{4});
  EXPECT_NEAR(executed_per_token(masks)[0], 0.9, 1e-15);
}

TEST(ExecutionMasks, ARunDoesNotGoOnInTheNextSequence) {
  const at::Tensor two = at::cat({mask({1, 0, 0}), mask({0, 0, 1})}, 1);
  EXPECT_EQ(longest_skips({two}), std::vector<double>{2});
}

TEST(ExecutionMasks, BytesHoldTheFirstTokenInTheLowestBit) {
  const at::Tensor two = at::cat({mask({1, 0, 0, 0, 0, 0, 0, 1, 0, 1}),  //
                                  mask({0, 1, 0, 0, 0, 0, 0, 0, 1, 1})},
                                 1);
  EXPECT_EQ(packed_mask(two, 2), (std::vector<double>{129, 2, 2, 3}));
  EXPECT_EQ(packed_mask(two, 1), (std::vector<double>{129, 2}));
}

TEST(ExecutionMasks, CellsAreApart) {
  const at::Tensor a = mask({1, 1, 0, 0}), b = mask({0, 0, 0, 0});
  const ExecutionMasks masks = {at::cat({a, b})};
  EXPECT_EQ(unexecuted_shares(masks), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(longest_skips(masks), (std::vector<double>{2, 4}));
  EXPECT_EQ(executed_per_token(masks), (std::vector<double>{0.5, 0}));
}

}  // namespace execution_masks_test
}  // namespace depthgrid::testing
