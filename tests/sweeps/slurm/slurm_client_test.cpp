#include "sweeps/slurm/slurm_client.hpp"

#include <cmath>
#include <csignal>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

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

TEST(SlurmClient, SaysWhatToDoAboutARefusal) {
  const SlurmClient slurm([](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = 1,
                         .late = false,
                         .out = "",
                         .err = "sbatch: error: Invalid partition name specified\n"};
  });
  try {
    slurm.submit("script", {});
    FAIL() << "it was refused";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("sinfo"), std::string::npos) << e.what();
  }
}

TEST(SlurmClient, AQueueThatIsFullForThisUserIsNoMatterOfTime) {
  const SlurmClient slurm([](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = 1,
                         .late = false,
                         .out = "",
                         .err =
                             "sbatch: error: Batch job submission failed: Job violates "
                             "accounting/QOS policy (job submit limit, user's size and/or time "
                             "limits)\n"};
  });
  try {
    slurm.submit("script", {});
    FAIL() << "it was refused";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("MaxSubmitJobs"), std::string::npos) << e.what();
  }
}

TEST(SlurmClient, ReadsTheIdAndTheLimit) {
  const SlurmClient slurm([](const std::vector<std::string>& command, double) {
    const bool config = command[0] == "scontrol";
    return CommandAnswer{.code = 0,
                         .late = false,
                         .out = config ? "MaxArraySize            = 501\n" : "77;cluster\n",
                         .err = ""};
  });
  EXPECT_EQ(slurm.submit("script", {}), "77");
  EXPECT_EQ(slurm.max_array_size(), 501);
}

TEST(SlurmClient, ReadsTheIdBehindABannerAndSaysWhereThereIsNone) {
  const auto submitted = [](const std::string& said) {
    return SlurmClient([said](const std::vector<std::string>&, double) {
             return CommandAnswer{.code = 0, .late = false, .out = said, .err = ""};
           })
        .submit("array-0.sbatch", {});
  };
  EXPECT_EQ(submitted("------------\nWelcome. 12 nodes are down.\n------------\n77\n"), "77");
  EXPECT_EQ(submitted("77;east\n2 hours are left on your account\n"), "77");
  try {
    submitted("------------\n");
    FAIL() << "a banner is no id";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::TempFail);
    EXPECT_NE(std::string(e.what()).find("array-0.sbatch"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("------------"), std::string::npos) << e.what();
  }
}

TEST(SlurmClient, AnArrayHasNoMoreTasksThanTheSchedulerTakesAndNoneIsRefused) {
  const auto answers = [](const std::string& config) {
    return SlurmClient([config](const std::vector<std::string>&, double) {
      return CommandAnswer{.code = 0, .late = false, .out = config, .err = ""};
    });
  };
  EXPECT_EQ(answers("MaxArraySize            = 1001\n"
                    "SchedulerParameters     = bf_interval=5,max_array_tasks=300\n")
                .max_array_size(),
            300);
  EXPECT_THROW(answers("MaxArraySize            = 0\n").max_array_size(), UserError);
}

TEST(SlurmClient, KeepsATaskFromNodes) {
  std::vector<std::string> typed;
  const SlurmClient slurm([&](const std::vector<std::string>& command, double) {
    if (command[1] == "-o") {
      return CommandAnswer{.code = 0,
                           .late = false,
                           .out = "JobId=8 NodeList=(null) ExcNodeList=n1,n2 NodeList=n1\n",
                           .err = ""};
    }
    typed = command;
    return CommandAnswer{
        .code = typed[2] == "jobid=7_1" ? 0 : 1, .late = false, .out = "", .err = "no\n"};
  });
  EXPECT_EQ(slurm.leave_out("7_1", {"n1", "n2"}), "");
  EXPECT_EQ(typed,
            (std::vector<std::string>{"scontrol", "update", "jobid=7_1", "ExcNodeList=n1,n2"}));
  EXPECT_EQ(slurm.leave_out("7_1", {"n1", "n3"}), "the task does not show ExcNodeList=n1,n3");
  EXPECT_EQ(slurm.leave_out("7_2", {"n1"}), "no");
  const SlurmClient killed([](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = 128 + SIGTERM, .late = false, .out = "", .err = ""};
  });
  EXPECT_EQ(killed.leave_out("7_1", {"n1"}), "it ended with code 143") << "it has not been done";
}

TEST(SlurmClient, KeepsTheWaitingTasksOfAnArrayFromNodesThoughOthersRun) {
  const auto array = [](const std::string& left_out) {
    return SlurmClient([left_out](const std::vector<std::string>& command, double) {
      const bool shows = command[1] == "-o";
      return CommandAnswer{
          .code = shows ? 0 : 1,
          .late = false,
          .out = shows ? "JobId=7 ArrayTaskId=3-5 JobState=PENDING ExcNodeList=" + left_out +
                             " NodeList=(null)\nJobId=8 ArrayTaskId=0 "
                             "JobState=RUNNING ExcNodeList=n4 NodeList=n1\n"
                       : "",
          .err = "7_0: Job is no longer pending execution\n7_3-5: No error\n"};
    });
  };
  EXPECT_EQ(array("n4,n1").leave_out("7", {"n4", "n1"}), "") << "what runs is no failure";
  EXPECT_NE(array("(null)").leave_out("7", {"n4", "n1"}), "");
  using Names = std::vector<std::string>;
  EXPECT_EQ(array("n4,n[1-2,7]").left_out("7"), (Names{"n4", "n[1-2,7]"}));
  EXPECT_EQ(array("(null)").left_out("7"), Names{}) << "n4 is left out by a task that runs";
}

TEST(SlurmClient, NamesEachNodeOnce) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(answering("n2\nn1\nn1\n").nodes(), (Names{"n1", "n2"}));
  EXPECT_EQ(answering("n2\n", 1).nodes(), Names{});
}

TEST(SlurmClient, AddsUpWhatAllocationsHadOfCards) {
  const SlurmClient slurm =
      answering("3600|billing=8,cpu=8,gres/gpu=4,node=1\n60|cpu=1,node=1\n1800|gres/gpu=2\n");
  EXPECT_DOUBLE_EQ(slurm.gpu_seconds({"7"}).value(), 4 * 3600 + 2 * 1800);
  EXPECT_FALSE(answering("Slurm accounting storage is disabled", 1).gpu_seconds({"7"}));
}

TEST(SlurmClient, ASubmissionWhoseAnswerIsLostIsUncertainAndARefusalIsNone) {
  const auto submitted = [](CommandAnswer answer) {
    return SlurmClient([answer](const std::vector<std::string>&, double) { return answer; })
        .submit("array-0.sbatch", {});
  };
  const auto said = [](int code, const char* err) {
    return CommandAnswer{.code = code, .late = false, .out = "", .err = err};
  };
  EXPECT_THROW(submitted({.code = 143, .late = true, .out = "", .err = ""}), UncertainSubmission);
  EXPECT_THROW(submitted(said(130, "")), UncertainSubmission) << "Ctrl-C has ended sbatch";
  EXPECT_THROW(submitted(said(1,
                              "sbatch: error: Batch job submission failed: Socket timed out on "
                              "send/recv operation")),
               UncertainSubmission);
  try {
    submitted(said(1, "sbatch: error: Invalid partition name specified"));
    FAIL() << "it was refused";
  } catch (const UncertainSubmission& e) {
    FAIL() << e.what();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadConfig);
  }
}

TEST(SlurmClient, SaysHowLongItHasWaited) {
  double waited = 0;
  const SlurmClient slurm(
      [&](const std::vector<std::string>&, double seconds) {
        waited = seconds;
        return CommandAnswer{.code = 143, .late = true, .out = {}, .err = {}};
      },
      5);
  try {
    slurm.queue();
    FAIL() << "nobody has answered";
  } catch (const UserError& e) {
    EXPECT_EQ(std::lround(waited), 5);
    EXPECT_NE(std::string(e.what()).find("no answer within 5 s"), std::string::npos) << e.what();
  }
}

TEST(SlurmClient, AnAbsentOrSilentSlurmIsSaidToBe) {
  const SlurmClient absent([](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = 127, .late = false, .out = "", .err = ""};
  });
  EXPECT_THROW(absent.queue(), UserError);
  EXPECT_FALSE(absent.present());
  const SlurmClient silent([](const std::vector<std::string>&, double) {
    return CommandAnswer{.code = 137, .late = true, .out = "", .err = ""};
  });
  EXPECT_THROW(silent.queue(), UserError);
}

}  // namespace slurm_client_test
}  // namespace depthgrid
