#include "sweeps/run/launch_queue.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace launch_queue_test {

/// A launch of one cell.
LaunchPlan launch_of(std::size_t row, std::vector<std::size_t> after = {}) {
  const std::string name = std::to_string(row);
  return {.id = name, .rows = {row}, .cells = {name}, .after = std::move(after)};
}

/// Launch 0, and others that start from its cell.
std::vector<LaunchPlan> one_and_its_followers(std::size_t followers) {
  std::vector<LaunchPlan> out = {launch_of(0)};
  for (std::size_t i = 1; i <= followers; ++i) out.push_back(launch_of(i, {0}));
  return out;
}

struct Queue {
  explicit Queue(const std::vector<LaunchPlan>& launches)
      : backend(launches), queue(launches, 0, backend) {}
  PretendedBackend backend;
  LaunchQueue queue;
};

TEST(LaunchQueue, APollThatStartsNothingAsksTheStoreOfFewLaunches) {
  Queue all(one_and_its_followers(10000));
  ASSERT_EQ(all.queue.take(4, 0), 0U);
  all.backend.questions = 0;
  double now = 0;
  for (int poll = 0; poll < 200; ++poll) EXPECT_FALSE(all.queue.take(3, now += 0.05));
  EXPECT_EQ(all.backend.questions, 0U) << "what is waited for runs here";
  all.queue.give_back(0, 1e6);
  for (int poll = 0; poll < 200; ++poll) EXPECT_FALSE(all.queue.take(4, now += 0.05));
  EXPECT_LE(all.backend.questions, 11U) << "once a second, of the launch that others wait for";
  EXPECT_GE(all.backend.questions, 9U);

  std::vector<LaunchPlan> pairs = launches(20);  // all wait for a time, and others for them
  for (std::size_t i = 0; i < 20; ++i) pairs.push_back(launch_of(20 + i, {i}));
  Queue many(pairs);
  for (std::size_t i = 0; i < 20; ++i) many.queue.give_back(*many.queue.take(1, 0), 1e6);
  many.backend.questions = 0;
  EXPECT_FALSE(many.queue.take(1, 1));
  EXPECT_EQ(many.backend.questions, 16U);
  many.backend.settle(19);
  EXPECT_FALSE(many.queue.take(1, 1.5)) << "a second has not passed";
  EXPECT_EQ(many.queue.take(1, 2), 39U) << "in turn";
}

TEST(LaunchQueue, ALaunchWhoseStoreCannotBeReadIsTakenLater) {
  class Unreadable final : public PretendedBackend {
   public:
    using PretendedBackend::PretendedBackend;
    bool finalised(std::size_t row) override {
      if (!readable) throw StorageError("store", "cannot be read now");
      return PretendedBackend::finalised(row);
    }
    bool readable = false;
  };
  const std::vector<LaunchPlan> one = {launch_of(0)};
  Unreadable backend(one);
  LaunchQueue queue(one, 0, backend);
  EXPECT_THROW(queue.take(1, 0), StorageError);
  backend.readable = true;
  EXPECT_EQ(queue.take(1, 1), 0U);
}

TEST(LaunchQueue, WhatAnotherProcessHasSettledIsNotTaken) {
  Queue all(one_and_its_followers(2));
  all.backend.settle(0);
  all.backend.settle(1);
  EXPECT_EQ(all.queue.take(1, 0), 2U);
  EXPECT_FALSE(all.queue.any_within(1));
}

TEST(LaunchQueue, WhatWaitsForALaunchStartsSoonAfterAnotherProcessHasSettledIt) {
  Queue all(one_and_its_followers(1));
  ASSERT_EQ(all.queue.take(1, 0), 0U);
  all.queue.give_back(0, 1000);  // another supervisor has it, or it has failed here
  EXPECT_FALSE(all.queue.take(1, 1));
  all.backend.settle(0);
  EXPECT_EQ(all.queue.take(1, 2), 1U);
}

TEST(LaunchQueue, ACancelledCellIsTakenAfterItsCancellationIsUndone) {
  Queue all(launches(2));
  all.backend.cancelled = {0, 1};
  EXPECT_FALSE(all.queue.take(1, 0));
  EXPECT_FALSE(all.queue.left_within(1));
  all.backend.cancelled = {1};
  EXPECT_EQ(all.queue.take(1, 2), 0U);
  all.backend.cancelled = {};
  EXPECT_TRUE(all.queue.left_within(1)) << "seen before the supervisor leaves";
  EXPECT_EQ(all.queue.take(1, 2), 1U);
}

TEST(LaunchQueue, WhatIsGivenUpIsNotTakenAgain) {
  Queue all(launches(1));
  ASSERT_EQ(all.queue.take(1, 0), 0U);
  all.queue.give_up(0);  // though another process holds its cell
  EXPECT_FALSE(all.queue.take(1, 10));
  EXPECT_FALSE(all.queue.left_within(1));
}

TEST(LaunchQueue, BeforeASupervisorLeavesEveryLaunchIsAskedFor) {
  std::vector<LaunchPlan> plan = launches(3);
  plan[1].ranks = plan[2].ranks = 4;
  Queue all(plan);
  ASSERT_EQ(all.queue.take(2, 0), 0U);
  all.queue.give_back(0, 100);
  ASSERT_NE(all.queue.left_beyond(2), nullptr);
  EXPECT_EQ(all.queue.left_beyond(2)->id, "b");
  for (const std::size_t row : {0U, 1U}) all.backend.settle(row);
  EXPECT_TRUE(all.queue.any_within(2)) << "it has not been asked for";
  EXPECT_FALSE(all.queue.left_within(2));
  EXPECT_EQ(all.queue.left_beyond(2)->id, "c");
  all.backend.settle(2);
  EXPECT_FALSE(all.queue.left_within(4));
  EXPECT_EQ(all.queue.left_beyond(2), nullptr);
}

TEST(LaunchQueue, PartsTakeThePlaceOfALaunch) {
  Queue all(one_and_its_followers(1));
  ASSERT_EQ(all.queue.take(1, 0), 0U);
  const LaunchPlan& before = all.queue[0];
  all.queue.replace(0, {launch_of(5), launch_of(6)}, 3);
  EXPECT_EQ(&before, &all.queue[0]) << "plans stay where they are";
  EXPECT_FALSE(all.queue.take(1, 2));
  ASSERT_EQ(all.queue.take(1, 3), 2U);
  EXPECT_EQ(all.queue[2].id, "5");
  ASSERT_EQ(all.queue.take(1, 3), 3U);
  for (const std::size_t row : {5U, 6U}) all.backend.settle(row);
  EXPECT_TRUE(all.queue.over_if_finalised(2));
  EXPECT_FALSE(all.queue.take(1, 3));
  EXPECT_TRUE(all.queue.over_if_finalised(3));
  EXPECT_EQ(all.queue.take(1, 3), 1U);
}

}  // namespace launch_queue_test
}  // namespace depthgrid::testing
