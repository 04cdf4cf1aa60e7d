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

/// The number after -N, and the words that depend on it.
std::string nodes_of(const LaunchCommand& command) {
  const auto at = std::ranges::find(command.words, "-N");
  return at == command.words.end() ? "" : *(at + 1);
}

TEST(Launcher, AcrossNodesALaunchGetsEqualPartsOfAsFewAsHoldIt) {
  LaunchPlace place;
  place.nodes = 2;
  place.cards_per_node = 4;
  place.cores_per_node = 8;
  const auto cards = [](std::size_t n) { return std::vector<std::string>(n, "0"); };
  const auto one_node = launch_command(place, {"worker"}, 4, cards(4));
  EXPECT_EQ(nodes_of(one_node), "1");
  EXPECT_TRUE(has(one_node, "--gres=gpu:4"));
  const auto two_nodes = launch_command(place, {"worker"}, 8, cards(8));
  EXPECT_EQ(nodes_of(two_nodes), "2");
  EXPECT_TRUE(has(two_nodes, "--gres=gpu:4")) << "of each node";
  EXPECT_TRUE(has(two_nodes, "--ntasks-per-node=4"));
  place.threads = 2;
  EXPECT_EQ(nodes_of(launch_command(place, {"worker"}, 4, {})), "1");
  EXPECT_EQ(nodes_of(launch_command(place, {"worker"}, 6, {})), "2");
}

TEST(Launcher, ACardThatRanksShareIsNamedOnce) {
  const auto found = launch_command({}, {"worker"}, 2, {"1", "1"});
  EXPECT_EQ(found.variables.at("CUDA_VISIBLE_DEVICES"), "1");
}

TEST(Launcher, TheLeafDecides) {
  LaunchPlace place;
  place.nodes = 2;
  place.wanted = "mpirun";
  EXPECT_EQ(launch_command(place, {"worker"}, 2, {}).kind, LauncherKind::Mpirun);
}

}  // namespace launcher_test
}  // namespace depthgrid
