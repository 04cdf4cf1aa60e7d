// What exponents of a depth of the first study's size take.
#include <cstdint>
#include <ctime>

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>

#include "core/probe/lyapunov/finite_time.hpp"
#include "tests/support/block_watch.hpp"
#include "tests/support/model_depth.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace exponents_memory_test {

constexpr double kMebibyte = 1 << 20;

TEST(ExponentsMemory, OfTheFirstStudysDepthStaysSmall) {
  const ModelDepth depth({"", "standard",
                          [](ModelOptions& o) {
                            o.width = 256;
                            o.heads = 4;
                            o.layers = 6;
                            o.hidden = 1024;
                            o.max_tokens = 128;
                          }},
                         at::kFloat, 1, 1, 128);
  const at::Tensor start = depth.start();
  ASSERT_EQ(start.numel(), 128 * 256);
  Stretches found;
  const std::clock_t begin = std::clock();
  const BlockWatch watch = blocks_of([&] {
    found = largest_stretches(TangentMap(depth.map(true), start),
                              {.exponents = 8, .oversampling = 8, .iterations = 3, .tolerance = 0});
  });
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

  EXPECT_EQ(found.iterations.item<std::int64_t>(), 3);
  EXPECT_FALSE(found.log_stretch.isnan().any().item<bool>());
  EXPECT_GT(watch.largest, 0) << "nothing was watched";
  verdict(31, "128 × 256, L = 6, 8 + 8 directions, 3 iterations: seconds of all cores", seconds,
          at_most(60));
  verdict(31, "the same: MiB held at once", static_cast<double>(watch.most) / kMebibyte,
          at_most(2048));
  verdict(31, "the same: MiB of the largest block", static_cast<double>(watch.largest) / kMebibyte,
          at_most(64));
}

/// The Jacobian would be seen.
TEST(ExponentsMemory, AJacobianWouldBeSeen) {
  const BlockWatch watch = blocks_of([&] {
    at::empty({4096, 4096}, at::kFloat);
    at::empty({4096, 4096}, at::kFloat);
  });
  EXPECT_EQ(watch.largest, 64 << 20);
  EXPECT_EQ(watch.most, 64 << 20) << "one after the other";
}

}  // namespace exponents_memory_test
}  // namespace depthgrid::testing
