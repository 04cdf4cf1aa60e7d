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

TEST(SlurmClient, ASignalThatEndsScontrolIsASuccessOnlyIfTheTaskHasLeft) {
  std::int64_t asked = 0;
  const auto client = [&](std::int64_t until) {
    asked = 0;
    return SlurmClient([&asked, until](const std::vector<std::string>& command, double) {
      if (command[1] == "requeue") return CommandAnswer{.code = 143, .out = {}, .err = {}};
      ++asked;
      const bool runs = asked <= until;
      return CommandAnswer{
          .code = 0,
          .out = runs ? "JobId=7 JobState=RUNNING\n" : "JobId=7 JobState=PENDING\n",
          .err = {}};
    });
  };
  EXPECT_EQ(client(0).requeue("7"), "");
  EXPECT_EQ(client(1).requeue("7"), "") << "asked again";
  EXPECT_EQ(asked, 2);
  EXPECT_NE(client(100).requeue("7"), "") << "it runs on";
  EXPECT_NE(answering("", 143).requeue("7"), "") << "where Slurm does not say, it may run on";
}

}  // namespace slurm_client_test
}  // namespace depthgrid
