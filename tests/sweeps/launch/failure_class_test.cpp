#include "sweeps/launch/failure_class.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace failure_class_test {

TEST(FailureClass, FollowsFromTheExitCode) {
  EXPECT_EQ(end_of(0, "", 0), LaunchEnd::Done);
  EXPECT_EQ(end_of(4, "", 0), LaunchEnd::Done);
  EXPECT_EQ(end_of(75, "", 0), LaunchEnd::Stopped);
  EXPECT_EQ(end_of(128 + SIGUSR1, "", 0), LaunchEnd::Stopped);
  EXPECT_EQ(end_of(76, "", 0), LaunchEnd::Hang);
  EXPECT_EQ(end_of(77, "", 0), LaunchEnd::OutOfMemory);
  EXPECT_EQ(end_of(71, "", 0), LaunchEnd::Infrastructure);
  EXPECT_EQ(end_of(73, "", 0), LaunchEnd::Disk);
  EXPECT_EQ(end_of(78, "", 0), LaunchEnd::Refused);
  EXPECT_EQ(end_of(1, "", 0), LaunchEnd::Error);
  EXPECT_EQ(end_of(3, "", 0), LaunchEnd::Crash);
  EXPECT_EQ(end_of(128 + SIGSEGV, "", 0), LaunchEnd::Crash);
  EXPECT_EQ(end_of(128 + SIGKILL, "", 0), LaunchEnd::Killed);
}

TEST(FailureClass, AKillByTheSystemForMemoryIsOutOfMemory) {
  EXPECT_EQ(end_of(128 + SIGKILL, "", 1), LaunchEnd::OutOfMemory);
  EXPECT_EQ(end_of(71, "", 1), LaunchEnd::OutOfMemory)
      << "of another rank, which lost the killed one";
  EXPECT_EQ(end_of(71, "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.", 0),
            LaunchEnd::OutOfMemory)
      << "on a node of which this one's control group knows nothing";
  EXPECT_EQ(end_of(128 + SIGKILL, "srun: error: n2: task 1: Out Of Memory", 0),
            LaunchEnd::OutOfMemory);
}

TEST(FailureClass, WhatTheDriverSaysIsNotTheProgramsFault) {
  EXPECT_EQ(end_of(1, "NCCL error: remote process exited", 0), LaunchEnd::Infrastructure);
  const BackendError own("NCCL", "ncclAllReduce", 2, "unhandled system error");
  EXPECT_EQ(end_of(1, own.what(), 0), LaunchEnd::Infrastructure);
  EXPECT_EQ(end_of(134, "NVRM: Xid (PCI:0000:07:00): 79", 0), LaunchEnd::Infrastructure);
  EXPECT_EQ(end_of(0, "NCCL error", 0), LaunchEnd::Done);
}

TEST(FailureClass, EachHasAPolicyOfItsOwn) {
  for (int e = 0; e <= static_cast<int>(LaunchEnd::Refused); ++e) {
    EXPECT_EQ(policy_of(static_cast<LaunchEnd>(e)).end, static_cast<LaunchEnd>(e));
  }
}

TEST(FailureClass, AnErrorIsNotTriedAsOftenAsACrash) {
  EXPECT_EQ(policy_of(LaunchEnd::Error).budget, "retry.error");
  EXPECT_EQ(policy_of(LaunchEnd::Crash).budget, "retry.crash");
  EXPECT_EQ(name_of(LaunchEnd::Error), "error");
  EXPECT_EQ(name_of(LaunchEnd::Refused), "refused");
}

}  // namespace failure_class_test
}  // namespace depthgrid
