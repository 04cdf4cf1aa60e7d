#include "sweeps/supervise/launcher.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace depthgrid {
namespace launcher_test {

bool has(const LaunchCommand& command, const std::string& word) {
  return std::ranges::find(command.words, word) != command.words.end();
}

TEST(Launcher, ASingleRankNeedsNone) {
  const auto found = launch_command({}, {"worker", "run"}, 1, {"3"});
  EXPECT_EQ(found.kind, LauncherKind::Direct);
  EXPECT_EQ(found.words, (std::vector<std::string>{"worker", "run"}));
  EXPECT_EQ(found.variables.at("CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(found.variables.at("OMP_NUM_THREADS"), "1");
}

TEST(Launcher, SeveralRanksOfOneNodeGoByMpirunUnbound) {
  const auto found = launch_command({}, {"worker"}, 2, {"0", "2"});
  EXPECT_EQ(found.kind, LauncherKind::Mpirun);
  EXPECT_EQ(found.words.front(), "mpirun");
  EXPECT_EQ(found.words.back(), "worker");
  EXPECT_TRUE(has(found, "none")) << "launchers side by side would bind to the same cores";
  EXPECT_EQ(found.variables.at("CUDA_VISIBLE_DEVICES"), "0,2");
}

TEST(Launcher, AcrossNodesStepsTakeNoMoreThanTheirPart) {
  LaunchPlace place;
  place.nodes = 2;
  place.mb_per_core = 500;
  const auto found = launch_command(place, {"worker"}, 1, {"0"});
  EXPECT_EQ(found.kind, LauncherKind::Srun);
  for (const char* word : {"--exact", "--mpi=pmix", "--mem-per-cpu=500", "--gres=gpu:1"}) {
    EXPECT_TRUE(has(found, word)) << word;
  }
  EXPECT_FALSE(found.variables.contains("CUDA_VISIBLE_DEVICES")) << "each node has its own";
}

TEST(Launcher, TheLeafDecides) {
  LaunchPlace place;
  place.nodes = 2;
  place.wanted = "mpirun";
  EXPECT_EQ(launch_command(place, {"worker"}, 2, {}).kind, LauncherKind::Mpirun);
}

}  // namespace launcher_test
}  // namespace depthgrid
