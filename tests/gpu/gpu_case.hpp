#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <ATen/Context.h>

#include "distributed/device_plugin.hpp"
#include "tests/support/host_kernels.hpp"

namespace depthgrid::testing {

/// A test that needs a GPU, and is skipped with the reason where there is none.
///
/// DEPTHGRID_EXPECT_GPU=1 makes it fail there instead: on a machine with a GPU, a test that was
/// skipped has shown nothing. DEPTHGRID_GPU_REHEARSAL=1 runs it on the CPU, by the device's
/// branches and with its kernels played by the host: that shows nothing about a GPU, but that the
/// test itself works.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_set("DEPTHGRID_GPU_REHEARSAL")) return;
    const GpuSearch found = find_gpus();
    if (found.count == 0 && is_set("DEPTHGRID_EXPECT_GPU")) FAIL() << "no GPU: " << found.problem;
    if (found.count == 0) GTEST_SKIP() << "no GPU: " << found.problem;
    use_device(0);
    device_ = at::Device(at::kCUDA, 0);
  }

  /// The optimiser's kernels of the device under test.
  std::unique_ptr<DeviceKernels> kernels(const SegmentTable& table, const std::string& optimizer,
                                         ClipScope scope, std::int64_t cells) const {
    if (device_.is_cpu()) return std::make_unique<HostKernels>(table, optimizer, scope);
    return make_device_kernels(table, optimizer, scope, cells);
  }

  static bool is_set(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && std::string_view(value) == "1";
  }

  at::Device device_ = at::kCPU;
};

}  // namespace depthgrid::testing
