#include "sweeps/run/slot_pool.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace slot_pool_test {

using Words = std::vector<std::string>;

TEST(SlotPool, WhatIsTakenComesBack) {
  SlotPool pool(3, {"0", "1", "2"}, {0, 1, 2, 3, 4, 5}, 2);
  const SlotShare team = pool.take(2), one = pool.take(1);
  EXPECT_EQ(team.gpus, (Words{"0", "1"}));
  EXPECT_EQ(team.cores, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(one.gpus, Words{"2"});
  EXPECT_EQ(pool.free(), 0);
  EXPECT_TRUE(pool.give_back(team, false).empty());
  EXPECT_EQ(pool.free(), 2);
  EXPECT_EQ(pool.take(1).gpus, Words{"0"});
}

TEST(SlotPool, ATeamWithoutCardsOrCoresHasPlacesAlone) {
  SlotPool pool(2, {}, {}, 4);
  const SlotShare share = pool.take(2);
  EXPECT_TRUE(share.gpus.empty());
  EXPECT_TRUE(share.cores.empty());
  EXPECT_EQ(pool.free(), 0);
}

TEST(SlotPool, ACardWithTwoFaultsIsLeftOutWithAllPlacesThatShareIt) {
  SlotPool pool(4, {"a", "b", "a", "b"}, {}, 1);  // two places a card
  EXPECT_TRUE(pool.give_back(pool.take(1), true).empty());
  (void)pool.take(1);  // b
  const SlotShare again = pool.take(1);
  ASSERT_EQ(again.gpus, Words{"a"});
  const auto bad = pool.give_back(again, true);
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].card, "a");
  EXPECT_EQ(bad[0].faults, 2);
  EXPECT_EQ(pool.all(), 2);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.take(1).gpus, Words{"b"});
}

}  // namespace slot_pool_test
}  // namespace depthgrid
