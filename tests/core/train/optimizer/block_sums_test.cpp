#include "core/train/optimizer/block_sums.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace block_sums_test {

constexpr std::int64_t kCount = 1999;  // no multiple of a vector or of a chunk

std::vector<float> waves() {
  std::vector<float> x(kCount);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i + 1)));
  }
  return x;
}

TEST(BlockSums, SumsTheSquaresOfABlockAsItsDefinitionSays) {
  const std::vector<float> x = waves();
  float lanes[kSumLanes] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const volatile float square = x[i] * x[i];  // rounded by itself: no fused multiply-add
    lanes[i % kSumLanes] += square;
  }
  double wide[kSumLanes];
  for (int j = 0; j < kSumLanes; ++j) wide[j] = lanes[j];
  for (int half = kSumLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) wide[j] += wide[j + half];
  }

  const double sum = sum_of_squares(x.data(), kCount);

  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), std::bit_cast<std::uint64_t>(wide[0]));
}

}  // namespace block_sums_test
}  // namespace depthgrid
