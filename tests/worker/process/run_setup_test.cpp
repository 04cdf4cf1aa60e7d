#include "worker/process/run_setup.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <ATen/Context.h>

#include "core/base/error.hpp"
#include "distributed/device_plugin.hpp"
#include "tests/worker/session/small_run.hpp"

namespace depthgrid::testing {
namespace run_setup_test {

bool has_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

TEST(RunSetup, ARunOnAMachineWithoutAGpuLoadsNoLibraryOfGpus) {
  if (!driver_problem()) GTEST_SKIP() << "this machine has a GPU";
  const SmallRun small;  // resources.device: auto

  EXPECT_TRUE(small.run.device.device.is_cpu());
  EXPECT_FALSE(has_mapped("libtorch_cuda"));
  EXPECT_FALSE(has_mapped("libdepthgrid_cuda"));
}

/// The message with which a run with these settings ends.
std::string refusal(std::vector<std::string> set) {
  try {
    const SmallRun small({.set = std::move(set)});
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadConfig);
    return error.what();
  }
  return "";
}

TEST(RunSetup, AGpuThatIsAskedForAndMissingIsAnErrorThatSaysWhy) {
  const auto problem = driver_problem();
  if (!problem) GTEST_SKIP() << "this machine has a GPU";
  const std::string missing = refusal({"resources.device=cuda"});
  EXPECT_NE(missing.find(*problem), std::string::npos) << missing;
  const std::string forbidden = refusal({"resources.device=cuda", "resources.gpus=0"});
  EXPECT_NE(forbidden.find("resources.gpus is 0"), std::string::npos) << forbidden;
}

DeviceChoice gpu() {
  DeviceChoice choice;
  choice.device = at::Device(at::kCUDA, 1);
  choice.place = {"host", {"0000:3b:00.0", "GPU-5fd3"}};
  return choice;
}

TEST(RunSetup, AProcessOfItsOwnSeesTheCardOfItsRankOnly) {
  EXPECT_EQ(variables_of_one_card(gpu()).at("CUDA_VISIBLE_DEVICES"), "GPU-5fd3");
  EXPECT_TRUE(variables_of_one_card({}).empty());
}

TEST(RunSetup, AProcessOfItsOwnTakesThePartOfTheCardsMemoryOfItsRank) {
  DeviceChoice shared = gpu();
  shared.memory_share = share_of_card(3, nullptr);
  EXPECT_EQ(shared.memory_share, memory_share(3));
  // It is alone in its run and sees no other rank.
  const std::string handed_on = variables_of_one_card(shared).at("DEPTHGRID_MEMORY_SHARE");
  EXPECT_EQ(share_of_card(1, handed_on.c_str()), shared.memory_share);
  const std::string whole = variables_of_one_card(gpu()).at("DEPTHGRID_MEMORY_SHARE");
  EXPECT_EQ(share_of_card(1, whole.c_str()), 1);
  EXPECT_EQ(share_of_card(1, nullptr), 1);
  for (const char* text : {"", "0", "1.5", "-1", "nan", "0.5x"}) {
    EXPECT_THROW(share_of_card(1, text), UserError) << text;
  }
}

TEST(RunSetup, AWorkspaceThatBreaksThePromiseOfTheSameBitsIsRefusedByLeaf) {
  EXPECT_EQ(reproducibility_problem(true, gpu(), ":4096:8"), std::nullopt);
  EXPECT_EQ(reproducibility_problem(true, gpu(), ":16:8"), std::nullopt);
  EXPECT_EQ(reproducibility_problem(false, gpu(), ":0:0"), std::nullopt);
  EXPECT_EQ(reproducibility_problem(true, {}, ":0:0"), std::nullopt);
  for (const char* workspace : {":0:0", ""}) {
    const auto problem = reproducibility_problem(true, gpu(), workspace);
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->find("train.deterministic"), std::string::npos) << *problem;
    EXPECT_NE(problem->find("CUBLAS_WORKSPACE_CONFIG"), std::string::npos) << *problem;
  }
  EXPECT_TRUE(reproducibility_problem(true, gpu(), nullptr));
}

TEST(RunSetup, AnOperationWithoutAReproducibleFormFailsWithTheLeafsName) {
  const std::string said =
      "put_ does not have a deterministic implementation, but you set "
      "'torch.use_deterministic_algorithms(True)'";
  EXPECT_NE(with_its_leaf(said).find("train.deterministic: false"), std::string::npos);
  EXPECT_EQ(with_its_leaf("shapes differ"), "shapes differ");
}

TEST(RunSetup, WhereTheSameBitsArePromisedNothingMayOnlyWarn) {
  const SmallRun small;
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().deterministicAlgorithmsWarnOnly());
}

}  // namespace run_setup_test
}  // namespace depthgrid::testing
