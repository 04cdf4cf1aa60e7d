#include "distributed/team.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace team_test {

TEST(TeamPlace, NeighbouringRanksFormATeam) {
  const TeamPlace third = team_place(2, 4, 2);

  EXPECT_EQ(third.team, 1);
  EXPECT_EQ(third.rank, 0);
  EXPECT_EQ(third.teams, 2);
  EXPECT_EQ(third.idle, 0);
  EXPECT_EQ(team_place(3, 4, 2).rank, 1);
}

TEST(TeamPlace, LastRanksThatDoNotFillATeamAreIdle) {
  EXPECT_EQ(team_place(5, 8, 3).team, 1);
  EXPECT_EQ(team_place(6, 8, 3).team, -1);
  EXPECT_EQ(team_place(7, 8, 3).team, -1);
  EXPECT_EQ(team_place(7, 8, 3).idle, 2);
}

TEST(TeamPlace, WorldSmallerThanATeamIsTheUsersToPutRight) {
  try {
    team_place(0, 2, 4);
    FAIL() << "a team of 4 in a world of 2";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadConfig);
    const std::string text = error.what();
    EXPECT_NE(text.find("resources.ranks_per_job is 4"), std::string::npos) << text;
    EXPECT_NE(text.find("mpirun -np 4"), std::string::npos) << text;
  }
}

TEST(Team, OfOneRankIsTheRankItself) {
  auto world = rank_env().world();

  Team team(*world, 1);

  EXPECT_FALSE(team.idle());
  EXPECT_TRUE(team.leads());
  EXPECT_EQ(team.index(), world->rank());
  EXPECT_EQ(team.count(), world->size());
  EXPECT_EQ(team.group().size(), 1);
}

TEST(Team, OfTwoRanksWorksBesideTheOthers) {
  auto world = rank_env().world();
  if (world->size() < 2) GTEST_SKIP() << "for two ranks and more";

  Team team(*world, 2);

  EXPECT_EQ(team.index(), world->rank() / 2);
  EXPECT_EQ(team.group().size(), 2);
  EXPECT_EQ(team.leads(), world->rank() % 2 == 0);
  const std::int64_t first = 2 * team.index();
  EXPECT_EQ(total(team.group(), world->rank()), first + first + 1);
}

TEST(Team, OfThreeLeavesTheFourthRankIdle) {
  auto world = rank_env().world();
  if (world->size() != 4) GTEST_SKIP() << "for four ranks";

  Team team(*world, 3);

  EXPECT_EQ(team.idle(), world->rank() == 3);
  EXPECT_EQ(team.count(), 1);
  EXPECT_EQ(team.leads(), world->rank() == 0);
  EXPECT_EQ(team.group().size(), world->rank() == 3 ? 1 : 3);
}

}  // namespace team_test
}  // namespace depthgrid
