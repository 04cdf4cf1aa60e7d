#include "sweeps/doctor/slurm_checks.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace slurm_checks_test {

constexpr const char* kPartitions = R"(PartitionName=cpu
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=512 TotalNodes=8 SelectTypeParameters=NONE

PartitionName=spare
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=00:01:00 Hidden=NO
   OverTimeLimit=NONE PreemptMode=REQUEUE
   State=UP TotalCPUs=512 TotalNodes=8 SelectTypeParameters=NONE
)";

TEST(SlurmLimits, PartitionsTellTheirGrace) {
  const auto graces = partition_graces(kPartitions);
  ASSERT_EQ(graces.size(), 2U);
  EXPECT_EQ(graces[0].name, "cpu");
  EXPECT_EQ(graces[0].preempt_mode, "OFF");
  EXPECT_EQ(graces[1].name, "spare");
  EXPECT_EQ(graces[1].grace, 60);
  EXPECT_TRUE(partition_graces("MaxArraySize            = 1001\n").empty());
}

TEST(SlurmLimits, AGraceShorterThanTheSignalsDelayIsAWarning) {
  const auto graces = partition_graces(kPartitions);
  const auto findings = grace_findings(graces, 180);
  ASSERT_EQ(findings.size(), 1U) << "a partition that preempts nobody needs none";
  EXPECT_EQ(findings[0].what, "GraceTime of spare");
  EXPECT_EQ(findings[0].level, FindingLevel::Warning);
  EXPECT_NE(findings[0].cure.find("slurm.signal_delay (180 s)"), std::string::npos);
  EXPECT_EQ(grace_findings(graces, 60)[0].level, FindingLevel::Ok);
}

TEST(SlurmLimits, ATaskNeedsSecondsBetweenTermAndKill) {
  EXPECT_EQ(kill_wait_finding("30 sec", 180).level, FindingLevel::Ok);
  EXPECT_EQ(kill_wait_finding("", 180).level, FindingLevel::Ok);
  const Finding little = kill_wait_finding("2 sec", 180);
  EXPECT_EQ(little.level, FindingLevel::Warning);
  EXPECT_FALSE(little.cure.empty());
}

TEST(SlurmLimits, ALimitBelowAnArrayIsAWarning) {
  EXPECT_EQ(submit_limit_finding("", 1001).level, FindingLevel::Ok);
  EXPECT_EQ(submit_limit_finding("\n\n", 1001).level, FindingLevel::Ok);
  EXPECT_EQ(submit_limit_finding("5000\n\n", 1001).level, FindingLevel::Ok);
  const Finding few = submit_limit_finding("500\n200\n", 1001);
  EXPECT_EQ(few.level, FindingLevel::Warning);
  EXPECT_NE(few.seen.find("200"), std::string::npos);
}

}  // namespace slurm_checks_test
}  // namespace depthgrid
