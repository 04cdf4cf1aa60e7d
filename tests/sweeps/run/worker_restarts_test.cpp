#include "sweeps/run/worker_restarts.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/base/exit_code.hpp"

namespace depthgrid {
namespace worker_restarts_test {

RetryOptions retries(std::int64_t budget) {
  RetryOptions out;
  out.budget = [budget](std::string_view) { return budget; };
  out.backoff = 10;
  return out;
}

WorkerEnd end_with(int code) {
  return {.code = code,
          .passed_on = 0,
          .oom_kills = 0,
          .began = true,
          .left = true,
          .progressed = false};
}

TEST(WorkerRestarts, AFaultOfTheWorkerStartsItAgainAfterAPauseThatGrows) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    WorkerRestarts restarts(retries(3));
    const auto first = restarts.ended(end_with(128 + number), 100);
    EXPECT_TRUE(first.again) << number;
    EXPECT_NEAR(first.seconds, 10, 3.01);
    EXPECT_NEAR(restarts.ended(end_with(128 + number), 200).seconds, 30, 9.01);
  }
}

TEST(WorkerRestarts, WhatEndsItFromOutsideOrInOrderDoesNot) {
  WorkerRestarts restarts(retries(3));
  for (const int code : {128 + SIGKILL, 128 + SIGTERM, 128 + SIGINT, 128 + SIGHUP, 128 + SIGUSR1, 0,
                         1, 2, 4, 65, 73, 75, 77, 78, 127}) {
    const auto verdict = restarts.ended(end_with(code), 0);
    EXPECT_FALSE(verdict.again) << code;
    EXPECT_FALSE(verdict.used_up) << code;
  }
}

TEST(WorkerRestarts, AKillForMemoryIsOne) {
  WorkerRestarts restarts(retries(1));
  WorkerEnd killed = end_with(128 + SIGKILL);
  killed.oom_kills = 1;
  EXPECT_TRUE(restarts.ended(killed, 0).again);
  EXPECT_TRUE(restarts.ended(killed, 0).used_up);
}

TEST(WorkerRestarts, AFaultOfTheDeviceIsOneForAProcessWithAContextOfItsOwn) {
  WorkerRestarts restarts(retries(1));
  const int fault = static_cast<int>(ExitCode::Infrastructure);
  EXPECT_TRUE(restarts.ended(end_with(fault), 0).again);
  EXPECT_TRUE(restarts.ended(end_with(fault), 0).used_up);
}

TEST(WorkerRestarts, AUsersStopIsAStopWhateverFollows) {
  WorkerRestarts restarts(retries(3));
  WorkerEnd stopped = end_with(128 + SIGSEGV);
  stopped.passed_on = SIGINT;
  EXPECT_FALSE(restarts.ended(stopped, 0).again);
}

TEST(WorkerRestarts, AStartThatNeverTrainsAndARunWithoutCellsLeftEndAtOnce) {
  WorkerRestarts restarts(retries(3));
  WorkerEnd early = end_with(128 + SIGSEGV), late = early;
  early.began = false;
  late.left = false;
  EXPECT_FALSE(restarts.ended(early, 0).again);
  EXPECT_FALSE(restarts.ended(late, 0).again);
}

TEST(WorkerRestarts, AHangHasItsBudgetAndProgressFillsIt) {
  const int hang = static_cast<int>(ExitCode::Hang);
  WorkerRestarts restarts(retries(1));
  EXPECT_TRUE(restarts.ended(end_with(hang), 0).again);
  WorkerEnd further = end_with(hang);
  further.progressed = true;
  EXPECT_TRUE(restarts.ended(further, 0).again);
  const auto last = restarts.ended(end_with(hang), 0);
  EXPECT_FALSE(last.again);
  EXPECT_TRUE(last.used_up);
  EXPECT_EQ(last.failures, 2);
}

TEST(WorkerRestarts, CrashesGoOnUntilTheWorkerHasGivenTheCellUp) {
  // died_too_often() gives it up at the claim that follows retry.crash + 2 crashes.
  constexpr int kRetryCrash = 1;
  WorkerRestarts restarts(retries(kRetryCrash));
  for (int crash = 1; crash <= kRetryCrash + 2; ++crash) {
    EXPECT_TRUE(restarts.ended(end_with(128 + SIGABRT), 0).again) << crash;
  }
  EXPECT_TRUE(restarts.ended(end_with(128 + SIGABRT), 0).used_up);
}

}  // namespace worker_restarts_test
}  // namespace depthgrid
