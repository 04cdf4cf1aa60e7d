// What exponents of a depth of the first study's size take.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "core/probe/lyapunov/finite_time.hpp"
#include "tests/support/model_depth.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace exponents_memory_test {

/// Is told of each block that LibTorch's allocator gives and takes back.
class BlockWatch final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*block*/, std::int64_t bytes, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device /*device*/) override {
    held_ += bytes;
    most = std::max(most, held_);
    largest = std::max(largest, bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t most = 0, largest = 0;  // bytes held at once; of one block

 private:
  std::int64_t held_ = 0;
};

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
  const auto watch = std::make_shared<BlockWatch>();
  Stretches found;
  const std::clock_t begin = std::clock();
  {
    const c10::DebugInfoGuard reporting(c10::DebugInfoKind::PROFILER_STATE, watch);
    found = largest_stretches(TangentMap(depth.map(true), start),
                              {.exponents = 8, .oversampling = 8, .iterations = 3, .tolerance = 0});
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

  EXPECT_EQ(found.iterations.item<std::int64_t>(), 3);
  EXPECT_FALSE(found.log_stretch.isnan().any().item<bool>());
  EXPECT_GT(watch->largest, 0) << "nothing was watched";
  verdict(31, "128 × 256, L = 6, 8 + 8 directions, 3 iterations: seconds of all cores", seconds,
          at_most(60));
  verdict(31, "the same: MiB held at once", static_cast<double>(watch->most) / kMebibyte,
          at_most(2048));
  verdict(31, "the same: MiB of the largest block", static_cast<double>(watch->largest) / kMebibyte,
          at_most(64));
}

/// The Jacobian would be seen.
TEST(ExponentsMemory, AJacobianWouldBeSeen) {
  const auto watch = std::make_shared<BlockWatch>();
  {
    const c10::DebugInfoGuard reporting(c10::DebugInfoKind::PROFILER_STATE, watch);
    at::empty({4096, 4096}, at::kFloat);
    at::empty({4096, 4096}, at::kFloat);
  }
  EXPECT_EQ(watch->largest, 64 << 20);
  EXPECT_EQ(watch->most, 64 << 20) << "one after the other";
}

}  // namespace exponents_memory_test
}  // namespace depthgrid::testing
