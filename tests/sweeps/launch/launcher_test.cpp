#include "sweeps/launch/launcher.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

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

TEST(Launcher, TheKindsOfMpiAreReadInEveryVersionsForm) {
  EXPECT_EQ(mpi_kinds("MPI plugin types are...\n\tnone\n\tpmix\nspecific pmix plugin versions "
                      "available: pmix_v3,pmix_v4\n"),
            (std::vector<std::string>{"none", "pmix", "pmix_v3", "pmix_v4"}));
  EXPECT_EQ(mpi_kinds("srun: MPI types are...\nsrun: pmi2\nsrun: none\n"),
            (std::vector<std::string>{"pmi2", "none"}));
}

LaunchPlace two_nodes(const std::string& wanted, const std::vector<std::string>& kinds) {
  LaunchPlace out;
  out.nodes = 2;
  out.cores_per_node = 4;
  out.wanted = wanted;
  choose_mpi(out, kinds);
  return out;
}

TEST(Launcher, SrunTakesThePmixThatItHas) {
  EXPECT_EQ(two_nodes("auto", {"none", "pmix", "pmix_v4"}).mpi, "pmix");
  EXPECT_EQ(two_nodes("auto", {"none", "pmix_v3", "pmix_v4", "pmi2"}).mpi, "pmix_v4");
  EXPECT_EQ(two_nodes("auto", {}).mpi, "pmix") << "it did not answer";
}

TEST(Launcher, WithoutPmixTeamsGoByMpirunAndSingleRanksByThemselves) {
  const LaunchPlace place = two_nodes("auto", {"none", "pmi2"});
  const auto team = launch_command(place, {"worker"}, 6, {});
  EXPECT_EQ(team.kind, LauncherKind::Mpirun);
  EXPECT_TRUE(has(team, "ppr:3:node")) << "as many on each node";
  EXPECT_TRUE(runs_alone(place, 6));
  const auto single = launch_command(place, {"worker"}, 1, {});
  EXPECT_EQ(single.kind, LauncherKind::Srun);
  EXPECT_TRUE(has(single, "--mpi=none"));
  EXPECT_TRUE(has(single, "SLURM_STEP_ID")) << "MPI must not take it for a rank of srun";
  EXPECT_FALSE(runs_alone(place, 1));
  EXPECT_FALSE(runs_alone({}, 4)) << "on one node launches stand side by side";
  try {
    two_nodes("srun", {"none", "pmi2"});
    FAIL() << "srun was asked for and cannot start ranks";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("none, pmi2"), std::string::npos);
  }
}

}  // namespace launcher_test
}  // namespace depthgrid
