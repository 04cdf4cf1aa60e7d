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

TEST(SlotPool, OneLaunchIsOneFaultOfACardThatSeveralOfItsRanksShare) {
  SlotPool pool(4, {"a", "b", "a", "b"}, {}, 1);
  const SlotShare team = pool.take(3);
  ASSERT_EQ(team.gpus, (Words{"a", "b", "a"}));
  EXPECT_TRUE(pool.give_back(team, true).empty());
  EXPECT_EQ(pool.all(), 4);
  const SlotShare both = pool.take(4);
  const auto bad = pool.give_back(both, true);
  ASSERT_EQ(bad.size(), 2U) << "each card once";
  EXPECT_EQ(bad[0].card, "a");
  EXPECT_EQ(bad[0].faults, 2);
  EXPECT_EQ(bad[1].card, "b");
  EXPECT_EQ(pool.all(), 0);
  EXPECT_EQ(pool.free(), 0);
}

TEST(SlotPool, WhoHeldACardWhenItWasLeftOutGivesItsPlaceBackWithoutAWord) {
  SlotPool pool(3, {"a", "a", "a"}, {}, 1);
  const SlotShare first = pool.take(1), second = pool.take(1), third = pool.take(1);
  EXPECT_TRUE(pool.give_back(first, true).empty());
  ASSERT_EQ(pool.give_back(second, true).size(), 1U);
  EXPECT_EQ(pool.all(), 1);
  EXPECT_TRUE(pool.give_back(third, false).empty()) << "it has been told";
  EXPECT_EQ(pool.all(), 0);
  EXPECT_EQ(pool.free(), 0);
}

}  // namespace slot_pool_test
}  // namespace depthgrid
