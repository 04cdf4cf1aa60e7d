#include "distributed/gpu_driver.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid::testing {
namespace gpu_driver_test {

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

}  // namespace gpu_driver_test
}  // namespace depthgrid::testing
