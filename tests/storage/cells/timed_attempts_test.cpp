#include "storage/cells/timed_attempts.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace timed_attempts_test {

TEST(TimedAttempts, AreToldByWhatTheyRanOnAndByTheirJobsEachOnce) {
  const std::vector<TimedAttempt> attempts = {
      {"cpu", "left", 3}, {"gpu", "", 1}, {"cpu", "right", 3}, {"cpu", "left", 3}};
  EXPECT_EQ(machines_text(attempts), "cpu, 3 cells; gpu, 1 cell");
  EXPECT_EQ(attempt_jobs(attempts), (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(machines_text({}), "");
}

}  // namespace timed_attempts_test
}  // namespace depthgrid
