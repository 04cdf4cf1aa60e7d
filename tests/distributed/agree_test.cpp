#include "distributed/agree.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace agree_test {

TEST(Agree, OnValuesOfAllRanks) {
  const auto world = rank_env().world();
  const bool last = world->rank() == world->size() - 1;

  EXPECT_TRUE(on_any(*world, last));
  EXPECT_FALSE(on_any(*world, false));
}

TEST(Agree, EveryRankWorksAndNoneThrowsWhenAllIsWell) {
  const auto world = rank_env().world();
  int done = 0;

  agree(*world, [&] { ++done; });

  EXPECT_EQ(done, 1);
}

TEST(Agree, AllRanksThrowTheFirstOnesTextWithTheLargestCode) {
  const auto world = rank_env().world();
  const int rank = world->rank();
  const int last = world->size() - 1;
  try {
    agree(*world, [&] {
      if (rank == last) throw UserError(ExitCode::CantCreate, "last");
      if (rank == last - 1) throw UserError(ExitCode::Usage, "last but one");
    });
    FAIL() << "rank " << rank << " has not heard of it";
  } catch (const SharedError& problem) {
    EXPECT_STREQ(problem.what(), last == 0 ? "last" : "last but one");
    EXPECT_EQ(problem.code(), ExitCode::CantCreate);
  }
  EXPECT_EQ(total(*world, 1), world->size());  // no rank has left the order of calls
}

TEST(Agree, WhatTheFirstRankDoesConcernsAll) {
  const auto world = rank_env().world();
  int done = 0;

  agree_on_first(*world, [&] { ++done; });

  EXPECT_EQ(done, world->rank() == 0 ? 1 : 0);
  EXPECT_THROW(agree_on_first(*world, [] { throw UserError(ExitCode::NoInput, "no such file"); }),
               SharedError);
}

TEST(Agree, OtherExceptionsAreTheRanksOwn) {
  const auto self = make_self_collective();
  EXPECT_THROW(agree(*self, [] { throw std::runtime_error("a bug"); }), std::runtime_error);
}

}  // namespace agree_test
}  // namespace depthgrid
