#include "sweeps/slurm/slurm_client.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace slurm_client_test {

/// A client whose commands all get this answer.
SlurmClient answering(const std::string& out, int code = 0) {
  return SlurmClient([=](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = code, .out = out, .err = {}};
  });
}

TEST(SlurmClient, KnowsATaskThatSlurmEnds) {
  EXPECT_TRUE(answering("JobId=7 ArrayJobId=7 ArrayTaskId=0 JobName=q UserId=u(1) "
                        "JobState=COMPLETING Reason=None Dependency=(null)\n")
                  .ending("7_0"));
  EXPECT_FALSE(answering("JobId=7 JobName=q JobState=RUNNING Reason=None\n").ending("7"));
  EXPECT_FALSE(answering("", 1).ending("7")) << "where Slurm does not say";
}

}  // namespace slurm_client_test
}  // namespace depthgrid
