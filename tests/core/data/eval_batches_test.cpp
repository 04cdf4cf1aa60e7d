#include "core/data/eval_batches.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace eval_batches_test {

TokenStream counting(std::uint32_t n) {
  std::vector<std::uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0U);
  return TokenStream::from_ids(ids, 65536, 0);
}

TEST(EvalBatches, APartialWindowStandsAloneAndIsPadded) {
  const TokenStream stream = counting(24);
  const EvalWindows windows = all_windows(24, 5);  // four of five, one of three
  const EvalBatches batches(stream, windows, 3);
  ASSERT_EQ(batches.size(), 3);
  EXPECT_EQ(batches.batch(0).tokens.size(0), 3);
  EXPECT_EQ(batches.batch(1).tokens.size(0), 1);
  const EvalBatch last = batches.batch(2);
  EXPECT_EQ(last.length, 3);
  // Draws of an evaluation belong to the window, whatever the size of batches.
  EXPECT_EQ(batches.batch(1).first, 3);
  EXPECT_EQ(last.first, 4);
  EXPECT_TRUE(at::equal(last.tokens, at::tensor({20, 21, 22, 23, 0, 0}, at::kLong).view({1, 6})));
  EXPECT_TRUE(at::equal(last.mask, at::tensor({1, 1, 1, 0, 0}, at::kFloat).view({1, 5})));
  EXPECT_THROW(batches.batch(3), Error);
}

TEST(EvalBatches, SlidingWindowsCountEachTargetOnce) {
  const TokenStream stream = counting(50);
  const EvalWindows windows = all_windows(50, 8, 3);
  const EvalBatches batches(stream, windows, 4);
  double counted = 0;
  double target_sum = 0;
  for (std::int64_t i = 0; i < batches.size(); ++i) {
    const EvalBatch batch = batches.batch(i);
    counted += batch.mask.sum().item<double>();
    target_sum += (batch.tokens.slice(1, 1) * batch.mask).sum().item<double>();
  }
  EXPECT_EQ(counted, 49);
  EXPECT_EQ(target_sum, 49 * 50 / 2);  // each target 1 .. 49 once
}

TEST(EvalBatches, NoWindowsAreNoBatches) {
  const TokenStream stream;
  const EvalWindows windows = all_windows(0, 8);
  EXPECT_EQ(EvalBatches(stream, windows, 4).size(), 0);
}

}  // namespace eval_batches_test
}  // namespace depthgrid
