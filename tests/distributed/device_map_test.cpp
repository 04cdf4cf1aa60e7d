#include "distributed/device_map.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace device_map_test {

/// An environment variable that is put back at the end of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(DeviceMap, ALoneDeviceIsTheRanksOwnElseTheLocalRankDecides) {
  EXPECT_EQ(device_for(0, 3, 4), std::nullopt);
  EXPECT_EQ(device_for(1, 3, 4), 0);
  EXPECT_EQ(device_for(4, 3, 4), 3);
  EXPECT_EQ(device_for(8, 3, 4), 3);
}

TEST(DeviceMap, FewerDevicesThanRanksAreRefusedWithTheEnvironment) {
  const Variable visible("CUDA_VISIBLE_DEVICES", "0,1");
  try {
    device_for(2, 3, 4);
    FAIL() << "4 ranks on 2 GPUs";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadConfig);
    const std::string text = error.what();
    EXPECT_NE(text.find("2 GPUs"), std::string::npos) << text;
    EXPECT_NE(text.find("CUDA_VISIBLE_DEVICES=0,1"), std::string::npos) << text;
  }
}

TEST(DeviceMap, TwoRanksOnOneDeviceAreNamed) {
  auto world = rank_env().world();
  EXPECT_NO_THROW(expect_distinct_devices(*world, ""));
  EXPECT_NO_THROW(expect_distinct_devices(*world, "host " + std::to_string(world->rank())));
  if (world->size() < 2) return;

  try {
    expect_distinct_devices(*world, "host 0000:3b:00.0");
    FAIL() << "a GPU with two ranks";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("ranks 0 and 1 share the GPU host 0000:3b:00.0"),
              std::string::npos)
        << error.what();
  }
}

TEST(DeviceMap, ThreadsMustFitOnTheCpusOfTheRank) {
  EXPECT_EQ(affinity_warning(2, 2), std::nullopt);
  const auto warning = affinity_warning(1, 4);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("resources.threads is 4"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("1 CPU "), std::string::npos) << *warning;
}

TEST(DeviceMap, UsableCpusFollowTheAffinityOfTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(usable_cpus(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);

  sched_setaffinity(0, sizeof(one), &one);
  const int cpus = usable_cpus();
  sched_setaffinity(0, sizeof(before), &before);

  EXPECT_EQ(cpus, 1);
}

TEST(DeviceMap, AWorldOfOneUnderALauncherOfFourIsAProblem) {
  const Variable mpirun("OMPI_COMM_WORLD_SIZE", nullptr);
  const Variable step("SLURM_STEP_ID", "0");
  const Variable tasks("SLURM_STEP_NUM_TASKS", "4");

  EXPECT_EQ(world_size_problem(4), std::nullopt);
  const auto problem = world_size_problem(1);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("SLURM_STEP_NUM_TASKS is 4"), std::string::npos) << *problem;
  EXPECT_NE(problem->find("--mpi=pmix"), std::string::npos) << *problem;
}

TEST(DeviceMap, ABatchScriptThatStartsNoStepIsNoLauncher) {
  const Variable mpirun("OMPI_COMM_WORLD_SIZE", nullptr);
  const Variable step("SLURM_STEP_ID", nullptr);
  const Variable tasks("SLURM_STEP_NUM_TASKS", "4");

  EXPECT_EQ(world_size_problem(1), std::nullopt);
}

TEST(DeviceMap, TheLauncherOfThisTestAgreesWithMpi) {
  EXPECT_EQ(world_size_problem(rank_env().world()->size()), std::nullopt);
}

}  // namespace device_map_test
}  // namespace depthgrid
