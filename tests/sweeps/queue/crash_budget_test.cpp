#include "sweeps/queue/crash_budget.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace crash_budget_test {

/// Attempts that died at these steps, generations from 1.
CellHistory died_at(const std::vector<std::int64_t>& steps) {
  CellHistory history;
  for (const std::int64_t step : steps) {
    AttemptRecord attempt;
    attempt.generation = static_cast<std::int64_t>(history.attempts.size()) + 1;
    attempt.last_step = step;
    history.attempts.push_back(attempt);
  }
  return history;
}

TEST(CrashBudget, CountsDeathsThatGotNoFurther) {
  EXPECT_EQ(died_too_often(died_at({5, 5, 5}), 0, 2), std::nullopt);
  EXPECT_EQ(died_too_often(died_at({5, 5, 3, 5}), 0, 2),
            "died 4 times without getting beyond step 5 (retry.crash = 2)");
  EXPECT_EQ(died_too_often(died_at({5, 5, 6, 6}), 0, 1), std::nullopt);  // it has moved on
}

TEST(CrashBudget, ForgetsAttemptsThatWereReportedOrHaveEnded) {
  EXPECT_EQ(died_too_often(died_at({5, 5, 5, 5}), 3, 0), std::nullopt);
  CellHistory stopped = died_at({5, 5, 5});
  stopped.attempts.back().end = AttemptEnd{};
  EXPECT_EQ(died_too_often(stopped, 0, 0), std::nullopt);
}

}  // namespace crash_budget_test
}  // namespace depthgrid
