#include "sweeps/queue/checkpoint_policy.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace checkpoint_policy_test {

CheckpointPolicy policy(ValueMap leaves, std::int64_t steps) {
  return {make_config(leaves), steps};
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
