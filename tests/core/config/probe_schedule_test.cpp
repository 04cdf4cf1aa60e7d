#include "core/config/probe_schedule.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace probe_schedule_test {

using Steps = std::vector<std::int64_t>;

Value schedule(const char* key, Value value) {
  return Value(ValueMap{{key, std::move(value)}});
}

/// Every step at which it is due, which must be as many as it says.
Steps due_steps(const Value& leaf, std::int64_t steps) {
  const ProbeSchedule probe(leaf, steps);
  Steps out;
  for (std::int64_t step = 0; step <= steps + 5; ++step) {
    if (probe.due(step)) out.push_back(step);
  }
  EXPECT_EQ(probe.count(), static_cast<std::int64_t>(out.size())) << canonical_json(leaf);
  return out;
}

TEST(ProbeSchedule, OffIsNeverAndEndIsTheLastStepAlone) {
  EXPECT_EQ(due_steps("off", 100), Steps{});
  EXPECT_EQ(due_steps("end", 100), Steps{100});
  EXPECT_FALSE(ProbeSchedule().due(0));
  EXPECT_EQ(ProbeSchedule().count(), 0);
}

TEST(ProbeSchedule, EveryNthStepWithTheFirstAndTheLast) {
  EXPECT_EQ(due_steps(schedule("every", 40), 100), (Steps{0, 40, 80, 100}));
  EXPECT_EQ(due_steps(schedule("every", 50), 100), (Steps{0, 50, 100}));
  EXPECT_EQ(due_steps(schedule("every", 1000), 100), (Steps{0, 100}));
}

TEST(ProbeSchedule, StepsAndPercentagesOnceEachInTheirOrder) {
  EXPECT_EQ(due_steps(schedule("at", ValueList{"50 %", 7, "0 %", 50, "2.5%"}), 200),
            (Steps{0, 5, 7, 50, 100, 200}));
  EXPECT_EQ(due_steps(schedule("at", ValueList{300, 10}), 200), (Steps{0, 10, 200}))
      << "a step beyond the end never comes";
}

TEST(ProbeSchedule, LogSpacedStepsHaveEqualRatios) {
  EXPECT_EQ(due_steps(schedule("log_spaced", 4), 1000), (Steps{0, 1, 10, 100, 1000}));
  EXPECT_EQ(due_steps(schedule("log_spaced", 1), 1000), (Steps{0, 1000}));
  EXPECT_EQ(due_steps(schedule("log_spaced", 50), 4), (Steps{0, 1, 2, 3, 4}));
}

TEST(ProbeSchedule, WhatIsNoScheduleIsNamed) {
  for (const Value& bad :
       {Value("sometimes"), Value(100), schedule("every", 0), schedule("each", 5),
        schedule("at", ValueList{"101 %"}), schedule("at", ValueList{"ten"}),
        schedule("at", ValueList{-1}), schedule("log_spaced", "5"), Value(ValueMap{})}) {
    try {
      const ProbeSchedule probe(bad, 100);
      ADD_FAILURE() << "took " << canonical_json(bad);
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(canonical_json(bad)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("log_spaced"), std::string::npos);
    }
  }
}

}  // namespace probe_schedule_test
}  // namespace depthgrid
