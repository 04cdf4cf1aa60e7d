#include "sweeps/run/plain_run.hpp"

#include <gtest/gtest.h>

#include "core/config/sweep.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace plain_run_test {

TEST(PlainRun, CrashesGoOnUntilTheWorkerHasGivenTheCellUp) {
  // died_too_often() gives it up at the claim that follows retry.crash + 2 crashes.
  const SweepFiles files;
  const auto file = files.write("sweep.yaml", "retry: {crash: 1, hang: 4}\n");
  const Sweep sweep = load_sweep({.file = file.string(), .set = {}});
  RetryBook book(plain_retries(sweep.run));
  for (int crash = 1; crash <= 1 + 2; ++crash) {
    EXPECT_FALSE(book.ended("run", LaunchEnd::Crash, false, 0).gives_up) << crash;
  }
  EXPECT_TRUE(book.ended("run", LaunchEnd::Crash, false, 0).gives_up);
  EXPECT_EQ(book.ended("run", LaunchEnd::Hang, false, 0).allowed, 4) << "as that of a supervisor";
}

}  // namespace plain_run_test
}  // namespace depthgrid
