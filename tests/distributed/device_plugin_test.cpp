#include "distributed/device_plugin.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid::testing {
namespace device_plugin_test {

/// Whether this process has mapped a library of this name.
bool has_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

// First: the others load the plug-in.
TEST(DevicePlugin, AMachineWithoutADriverDoesNotLoadIt) {
  const GpuSearch found = find_gpus();
  if (found.shown) GTEST_SKIP() << "this machine has a GPU";

  EXPECT_EQ(found.count, 0);
  EXPECT_NE(found.problem, "");
  EXPECT_TRUE(has_mapped("libtorch_cpu"));
  EXPECT_FALSE(has_mapped("libtorch_cuda"));
  EXPECT_FALSE(has_mapped("libdepthgrid_cuda"));
}

#ifdef DEPTHGRID_WITH_CUDA
TEST(DevicePlugin, CanBeLoadedWithAllItsSymbolsWithoutADriver) {
  if (rank_env().world()->rank() > 0) GTEST_SKIP() << "one rank is enough";
  EXPECT_EQ(plugin_problem(), std::nullopt);
  EXPECT_TRUE(has_mapped("libtorch_cuda"));
}
#else
TEST(DevicePlugin, ABuildWithoutItSaysWhatIsMissing) {
  const auto problem = plugin_problem();
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("libdepthgrid_cuda.so"), std::string::npos) << *problem;
}
#endif

TEST(DevicePlugin, NcclWithoutADeviceIsAnErrorNotACrash) {
  if (find_gpus().count > 0) GTEST_SKIP() << "this machine has a GPU";
  auto bootstrap = make_self_collective();

  EXPECT_THROW(make_nccl_collective(*bootstrap, std::chrono::seconds(5)), BackendError);
}

TEST(DevicePlugin, KernelsWithoutADeviceAreAnErrorThatGivesCudasReason) {
  if (find_gpus().count > 0) GTEST_SKIP() << "this machine has a GPU";
  const Segment all{.offset = 0, .count = 8};
  const SegmentTable table(8, {&all, 1});

  EXPECT_THROW(make_device_kernels(table, "adamw", ClipScope::Global, 1), BackendError);
  EXPECT_THROW(limit_device_memory(0, 0.5), BackendError);
  try {
    use_device(0);
    ADD_FAILURE() << "a GPU was used";
  } catch (const BackendError& error) {
    const std::string text = error.what();
#ifdef DEPTHGRID_WITH_CUDA
    EXPECT_NE(text.find("CUDA finds none: "), std::string::npos) << text;
#else
    EXPECT_NE(text.find("libdepthgrid_cuda.so"), std::string::npos) << text;
#endif
  }
}

/// Folders of a machine without a GPU, and a library that every machine has.
class GpuDriverTest : public ::testing::Test {
 protected:
  GpuDriverTest() {
    std::filesystem::create_directory(places_.devices);
    touch("null");
  }
  void touch(const std::string& device) { std::ofstream(places_.devices / device) << ""; }

  TemporaryFolder folder_;
  DriverPlaces places_{folder_.path() / "dev", folder_.path() / "gpus", "libc.so.6"};
};

TEST_F(GpuDriverTest, AMachineWithoutAGpuIsSaidToHaveNone) {
  touch("nvidiactl");  // left by a driver whose card is gone, or given to a container without one
  const auto problem = driver_problem(places_);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("no NVIDIA GPU"), std::string::npos) << *problem;
  places_.devices = folder_.path() / "absent";
  EXPECT_TRUE(driver_problem(places_));
}

TEST_F(GpuDriverTest, ADeviceFileOrTheKernelsEntryAndTheLibraryMakeADriver) {
  EXPECT_FALSE(shows_gpu(places_));
  touch("nvidia0");
  EXPECT_TRUE(shows_gpu(places_));
  EXPECT_EQ(driver_problem(places_), std::nullopt);
  places_.devices = folder_.path() / "absent";
  EXPECT_TRUE(driver_problem(places_));
  std::filesystem::create_directories(places_.kernel / "0000:3b:00.0");
  EXPECT_EQ(driver_problem(places_), std::nullopt);
}

TEST_F(GpuDriverTest, ADriverWhoseLibraryIsMissingSaysSoInTheLinkersWords) {
  touch("nvidia0");
  places_.library = "libcuda-absent.so.1";
  const auto problem = driver_problem(places_);
  ASSERT_TRUE(problem);
  EXPECT_TRUE(shows_gpu(places_));
  EXPECT_NE(problem->find("libcuda-absent.so.1"), std::string::npos) << *problem;
  EXPECT_NE(problem->find("cannot open"), std::string::npos) << *problem;
}

}  // namespace device_plugin_test
}  // namespace depthgrid::testing
