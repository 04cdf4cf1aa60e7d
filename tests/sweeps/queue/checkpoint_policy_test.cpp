#include "sweeps/queue/checkpoint_policy.hpp"

#include <gtest/gtest.h>

#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace checkpoint_policy_test {

CheckpointPolicy policy(const ValueMap& leaves, std::int64_t steps) {
  return {make_config(leaves), steps};
}

/// A policy whose time passes only where a test says so.
class TimedPolicy : public ::testing::Test {
 protected:
  CheckpointPolicy timed(const ValueMap& leaves = {}) {
    return {make_config(leaves), 1000000, clock_};
  }

  const PretendedClock clock_;
};

TEST_F(TimedPolicy, TheFirstIsDueSoonAfterTheStart) {
  const CheckpointPolicy p = timed();
  EXPECT_FALSE(p.due(1));
  clock_.pass(2);
  EXPECT_FALSE(p.due(1000)) << "by time alone";
  clock_.pass(28);
  EXPECT_TRUE(p.due(1001));
}

TEST_F(TimedPolicy, ByDefaultTheyTakeAHundredthOfTheTime) {
  CheckpointPolicy p = timed();
  p.written(0.25);
  clock_.pass(24);
  EXPECT_FALSE(p.due(1));
  clock_.pass(1);
  EXPECT_TRUE(p.due(1));

  p.written(0.001);  // cheap ones are not written all the time either
  clock_.pass(1);
  EXPECT_FALSE(p.due(1));
  clock_.pass(29);
  EXPECT_TRUE(p.due(1));

  p.written(60);
  clock_.pass(5940);
  EXPECT_FALSE(p.due(1));
  clock_.pass(60);
  EXPECT_TRUE(p.due(1));
}

TEST_F(TimedPolicy, LeavesSayOtherwise) {
  CheckpointPolicy seldom = timed({{"checkpoint.every_seconds", Value(600)}});
  const CheckpointPolicy by_step =
      timed({{"checkpoint.every", Value(10)}, {"checkpoint.every_seconds", Value()}});
  clock_.pass(599);
  EXPECT_FALSE(seldom.due(1));
  clock_.pass(1);
  EXPECT_TRUE(seldom.due(1));
  seldom.written(100);
  clock_.pass(600);
  EXPECT_TRUE(seldom.due(1)) << "whatever it costs";
  EXPECT_FALSE(by_step.due(11));
  EXPECT_TRUE(by_step.due(20));
}

TEST(CheckpointPolicy, IsDueAtMultiplesAndAtKeptSteps) {
  const CheckpointPolicy p =
      policy({{"checkpoint.every", Value(10)},
              {"checkpoint.keep_at", Value(ValueList{Value(7), Value("50 %")})}},
             50);

  EXPECT_TRUE(p.due(10));
  EXPECT_TRUE(p.due(7));
  EXPECT_TRUE(p.due(25));  // half of fifty
  EXPECT_FALSE(p.due(11));
}

TEST(CheckpointPolicy, KeepsTheBestTheLastAndWhatWasAskedFor) {
  const CheckpointPolicy p = policy(
      {{"checkpoint.keep_at", Value(ValueList{Value(7)})}, {"checkpoint.keep_final", Value(true)}},
      50);

  EXPECT_EQ(p.kept({10, 30}, 50), (std::vector<std::int64_t>{7, 30, 50}));
  EXPECT_EQ(p.kept({}, 40), (std::vector<std::int64_t>{7, 40}));
}

}  // namespace checkpoint_policy_test
}  // namespace depthgrid
