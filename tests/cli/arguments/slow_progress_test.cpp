#include "cli/arguments/slow_progress.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace depthgrid {
namespace slow_progress_test {

using std::chrono::milliseconds;

TEST(SlowProgress, SpeaksAfterTwoSecondsAndThenEveryFive) {
  const SlowProgress::Time begin{};
  SlowProgress progress("report", "cells read", begin);
  EXPECT_EQ(progress.line_at(begin + milliseconds(1999), 10, 12000), "");
  EXPECT_EQ(progress.line_at(begin + milliseconds(2000), 1500, 12000),
            "report: 1,500 of 12,000 cells read\n");
  EXPECT_EQ(progress.line_at(begin + milliseconds(6999), 5000, 12000), "");
  EXPECT_EQ(progress.line_at(begin + milliseconds(7000), 6000, 12000),
            "report: 6,000 of 12,000 cells read\n");
}

}  // namespace slow_progress_test
}  // namespace depthgrid
