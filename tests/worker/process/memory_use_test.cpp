#include "worker/process/memory_use.hpp"

#include <new>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace memory_use_test {

TEST(MemoryUse, APeakCountsFromItsReset) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  {
    std::vector<char> large(kBytes);
    volatile char* const memory = large.data();
    for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
  }
  const double before = peak_memory_bytes();
  EXPECT_GT(before, static_cast<double>(kBytes));
  reset_peak_memory(at::kCPU);
  EXPECT_LE(peak_memory_bytes(), before);
  EXPECT_EQ(peak_device_memory_bytes(at::kCPU), peak_memory_bytes());
}

TEST(MemoryUse, KnowsErrorsThatMeanThatItIsOut) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("DefaultCPUAllocator: can't allocate")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("shapes differ")));
}

}  // namespace memory_use_test
}  // namespace depthgrid
