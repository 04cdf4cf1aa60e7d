#include "core/base/subprocess.hpp"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/child_process.hpp"

namespace depthgrid {
namespace subprocess_test {

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

/// As that of a child which is a rank if this process is one, or of one apart from any launcher.
int end_code(const std::vector<std::string>& command, bool keeps_launcher,
             const std::map<std::string, std::string>& variables = {}) {
  ChildProcess child(
      {.command = command, .variables = variables, .keeps_launcher = keeps_launcher});
  return child.wait(60).value_or(-1);
}

TEST(Subprocess, AProgramThatIsNotThereIsNamed) {
  EXPECT_THROW(become({"/no/such/program"}), StartError);
}

TEST(Subprocess, HidesTheLauncherFromAChildApartOnly) {
  ASSERT_EQ(setenv("OMPI_COMM_WORLD_SIZE", "4", 1), 0);
  ASSERT_EQ(setenv("OMPI_COMM_WORLD_RANK", "3", 1), 0);
  const auto seen = shell("test \"$OMPI_COMM_WORLD_SIZE\" = 4");
  EXPECT_TRUE(under_launcher());
  EXPECT_EQ(launcher_rank(), 3);
  EXPECT_EQ(end_code(seen, true), 0);
  EXPECT_EQ(end_code(seen, false), 1);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST(Subprocess, AShellOfSrunIsNoRankAndNeitherAreItsChildren) {
  ASSERT_EQ(setenv("SLURM_STEP_ID", "0", 1), 0);
  ASSERT_EQ(setenv("SLURM_STEP_NUM_TASKS", "1", 1), 0);
  const auto in_a_step = shell("test -n \"$SLURM_STEP_ID\"");
  EXPECT_FALSE(under_launcher());
  EXPECT_EQ(end_code(in_a_step, true), 1) << "Open MPI would look for srun's PMIx";
  ASSERT_EQ(setenv("SLURM_STEP_NUM_TASKS", "4", 1), 0);
  EXPECT_TRUE(under_launcher());
  EXPECT_EQ(launcher_ranks(), 4);
  EXPECT_EQ(end_code(in_a_step, true), 0);
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
  EXPECT_EQ(end_code(seen, false, {{"CUDA_VISIBLE_DEVICES", "GPU-7"}}), 0);
  EXPECT_EQ(end_code(seen, false), 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace subprocess_test
}  // namespace depthgrid
