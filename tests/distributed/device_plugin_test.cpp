#include "distributed/device_plugin.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace device_plugin_test {

TEST(DevicePlugin, NcclWithoutADeviceIsAnErrorNotACrash) {
  if (device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  auto bootstrap = make_self_collective();

  EXPECT_THROW(make_nccl_collective(*bootstrap, std::chrono::seconds(5)), BackendError);
}

TEST(DevicePlugin, KernelsWithoutADeviceAreAnErrorNotACrash) {
  if (device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  const Segment all{.offset = 0, .count = 8};
  const SegmentTable table(8, {&all, 1});

  EXPECT_THROW(make_device_kernels(table, "adamw", ClipScope::Global, 1), BackendError);
  EXPECT_THROW(use_device(0), BackendError);
}

}  // namespace device_plugin_test
}  // namespace depthgrid
