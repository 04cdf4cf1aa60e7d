#include "sweeps/plan/job_balance.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace job_balance_test {

JobGroup group_of(std::size_t cells, double seconds, std::int64_t cap) {
  JobGroup group;
  group.cells.resize(cells);
  group.seconds = seconds;
  group.cap = cap;
  group.pieces = pieces_for(group, cap);
  return group;
}

/// The jobs of each group after balance().
std::vector<std::size_t> balanced(std::vector<JobGroup> groups, std::int64_t teams) {
  balance(groups, teams);
  std::vector<std::size_t> pieces;
  for (const JobGroup& group : groups) pieces.push_back(group.pieces);
  return pieces;
}

using Pieces = std::vector<std::size_t>;

TEST(JobBalance, PiecesHoldAtMostTheCap) {
  EXPECT_EQ(group_of(8, 1, 8).pieces, 1U);
  EXPECT_EQ(group_of(9, 1, 8).pieces, 2U);
  EXPECT_EQ(group_of(3, 1, 1).pieces, 3U);
}

TEST(JobBalance, OneGroupIsDividedAmongTheTeams) {
  EXPECT_EQ(balanced({group_of(8, 1, 8)}, 2), Pieces{2});
  EXPECT_EQ(balanced({group_of(8, 1, 8)}, 4), Pieces{4});
  EXPECT_EQ(balanced({group_of(8, 1, 8)}, 1), Pieces{1});  // nobody to share with
}

TEST(JobBalance, GroupsThatFillTheTeamsStayWhole) {
  EXPECT_EQ(balanced({group_of(4, 1, 8), group_of(4, 1, 8)}, 2), (Pieces{1, 1}));
}

// Two jobs of 4 long cells and two of 4 short ones: 42.5 + 4.25 s; uncut, the short ones take 8.25.
TEST(JobBalance, AShortGroupIsCutTooWhereThatEndsSooner) {
  EXPECT_EQ(balanced({group_of(8, 10, 8), group_of(8, 1, 8)}, 2), (Pieces{2, 2}));
}

TEST(JobBalance, AGainOfOnePercentIsNotWorthAnotherJob) {
  EXPECT_EQ(balanced({group_of(8, 100, 8), group_of(8, 1, 8)}, 2), (Pieces{2, 1}));
}

TEST(JobBalance, PiecesNeverFall) {
  const Pieces pieces = balanced({group_of(9, 1, 2), group_of(5, 3, 1)}, 3);
  EXPECT_GE(pieces[0], 5U);
  EXPECT_EQ(pieces[1], 5U);
}

}  // namespace job_balance_test
}  // namespace depthgrid
