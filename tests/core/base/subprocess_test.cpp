#include "core/base/subprocess.hpp"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace subprocess_test {

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

bool never() {
  return false;
}

TEST(Subprocess, ReturnsTheExitCodeOfTheChild) {
  EXPECT_EQ(run_child(shell("exit 0")), 0);
  EXPECT_EQ(run_child(shell("exit 75")), 75);
  EXPECT_EQ(run_apart(shell("exit 77"), never), 77);
}

TEST(Subprocess, ReturnsTheSignalThatEndedTheChild) {
  EXPECT_EQ(run_child(shell("kill -KILL $$")), 128 + SIGKILL);
  EXPECT_EQ(run_apart(shell("kill -TERM $$"), never), 128 + SIGTERM);
}

TEST(Subprocess, ForwardsWhatShouldStopTheChild) {
  for (const char* name : {"INT", "TERM", "USR1", "USR2", "HUP"}) {
    const std::string script = std::string("trap 'exit 9' ") + name + "; kill -" + name +
                               " $PPID; while :; do sleep 0.02; done";
    int passed_on = 0;
    EXPECT_EQ(run_child(shell(script), true, &passed_on), 9) << name;
    EXPECT_STREQ(sigabbrev_np(passed_on), name);
  }
}

TEST(Subprocess, SaysThatAProgramIsNotThereAndLeavesTheSignalsAsTheyWere) {
  sigset_t before, after;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  EXPECT_THROW(run_child({"/no/such/program"}), Error);
  sigprocmask(SIG_BLOCK, nullptr, &after);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(sigismember(&after, s), sigismember(&before, s)) << s;
  }
  EXPECT_THROW(run_apart({"/no/such/program"}, never), Error);
  EXPECT_THROW(become({"/no/such/program"}), Error);
}

TEST(Subprocess, EndsAChildOnceItIsTold) {
  const TemporaryFolder folder;
  const std::filesystem::path ready = folder.path() / "ready";  // the trap is set: no race
  const std::string script =
      "trap 'exit 5' TERM; : > " + ready.string() + "; while :; do sleep 0.05; done";
  EXPECT_EQ(run_apart(shell(script), [&] { return std::filesystem::exists(ready); }), 5);
}

TEST(Subprocess, HidesTheLauncherFromAChildApartOnly) {
  ASSERT_EQ(setenv("OMPI_COMM_WORLD_SIZE", "4", 1), 0);
  ASSERT_EQ(setenv("OMPI_COMM_WORLD_RANK", "3", 1), 0);
  const auto seen = shell("test \"$OMPI_COMM_WORLD_SIZE\" = 4");
  EXPECT_TRUE(under_launcher());
  EXPECT_EQ(launcher_rank(), 3);
  EXPECT_EQ(run_child(seen), 0);
  EXPECT_EQ(run_apart(seen, never), 1);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST(Subprocess, AShellOfSrunIsNoRankAndNeitherAreItsChildren) {
  ASSERT_EQ(setenv("SLURM_STEP_ID", "0", 1), 0);
  ASSERT_EQ(setenv("SLURM_STEP_NUM_TASKS", "1", 1), 0);
  const auto in_a_step = shell("test -n \"$SLURM_STEP_ID\"");
  EXPECT_FALSE(under_launcher());
  EXPECT_EQ(run_child(in_a_step), 1) << "Open MPI would look for srun's PMIx";
  ASSERT_EQ(setenv("SLURM_STEP_NUM_TASKS", "4", 1), 0);
  EXPECT_TRUE(under_launcher());
  EXPECT_EQ(launcher_ranks(), 4);
  EXPECT_EQ(run_child(in_a_step), 0);
  ASSERT_EQ(setenv("SLURM_STEP_NUM_TASKS", "1", 1), 0);
  ASSERT_EQ(setenv("PMIX_RANK", "0", 1), 0);
  EXPECT_TRUE(under_launcher()) << "a rank, if the only one";
  unsetenv("PMIX_RANK");
  unsetenv("SLURM_STEP_NUM_TASKS");
  unsetenv("SLURM_STEP_ID");
}

TEST(Subprocess, AChildApartGetsTheVariablesOfItsCall) {
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "0,1", 1), 0);
  const auto seen = shell("test \"$CUDA_VISIBLE_DEVICES\" = GPU-7 && test -n \"$PATH\"");
  EXPECT_EQ(run_apart(seen, never, {{"CUDA_VISIBLE_DEVICES", "GPU-7"}}), 0);
  EXPECT_EQ(run_apart(seen, never), 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace subprocess_test
}  // namespace depthgrid
