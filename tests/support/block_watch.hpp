#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace depthgrid::testing {

/// Is told of each block that LibTorch's allocator gives and takes back.
class BlockWatch final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*block*/, std::int64_t bytes, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device /*device*/) override {
    held += bytes;
    most = std::max(most, held);
    largest = std::max(largest, bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t held = 0, most = 0, largest = 0;  // bytes now, at once, of one block
};

/// What `work` on this thread takes.
template <class Work>
BlockWatch blocks_of(const Work& work) {
  const auto watch = std::make_shared<BlockWatch>();
  const c10::DebugInfoGuard reporting(c10::DebugInfoKind::PROFILER_STATE, watch);
  work();
  return *watch;
}

}  // namespace depthgrid::testing
