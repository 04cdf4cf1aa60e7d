#include "sweeps/slurm/partition.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace partition_test {

const auto kPartitions = slurm_partitions(
    "gpu*|4|8|16000|gpu:a100:4|1:00:00\n"
    "gpu*|2|16|32000|gpu:a100:8|1:00:00\n"
    "long|4|8|16000|(null)|7-00:00:00\n"
    "open|1|8|16000|(null)|infinite\n");

TEST(Partition, ATimeAboveTheLimitIsToldWithTheLimitAndWhatWouldDo) {
  const std::string said = time_problem(kPartitions, "gpu", "4:00:00");
  EXPECT_NE(said.find("4:00:00 is above the limit of partition gpu (1:00:00):"), said.npos) << said;
  EXPECT_NE(said.find("could also be long (7-00:00:00), open (infinite)"), said.npos) << said;
  EXPECT_EQ(said, time_problem(kPartitions, "", "4:00:00")) << "gpu is the default";
  EXPECT_FALSE(time_problem(kPartitions, "gpu,long", "8-0").empty());
  EXPECT_TRUE(
      time_problem(kPartitions, "gpu", "90", "SBATCH_TIMELIMIT").starts_with("SBATCH_TIME"));
}

TEST(Partition, ATimeThatOnePartitionAllowsIsFine) {
  EXPECT_EQ(time_problem(kPartitions, "gpu", "1:00:00"), "");
  EXPECT_EQ(time_problem(kPartitions, "gpu,long", "4:00:00"), "");
  EXPECT_EQ(time_problem(kPartitions, "open", "400-0"), "");
  EXPECT_EQ(time_problem(kPartitions, "unknown", "4:00:00"), "") << "sbatch says so itself";
  EXPECT_EQ(time_problem({}, "gpu", "4:00:00"), "");
}

TEST(Partition, NodesOfTwoKindsAreTwoEntriesOfOneName) {
  ASSERT_EQ(partitions_named(kPartitions, "").size(), 2U);
  EXPECT_EQ(partitions_named(kPartitions, "gpu")[1].gpus, 8);
  EXPECT_EQ(partitions_named(kPartitions, "long,open").size(), 2U);
}

TEST(Partition, TellsHowManyNodesIdleWhereSinfoSaysSo) {
  const auto read = slurm_partitions(
      "gpu*|4|8|16000|gpu:a100:4|1:00:00|3/1\nold|4|8|16000|(null)|1:00:00\n"
      "wrong|4|8|16000|(null)|1:00:00|3/1|x\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].idle, 1);
  EXPECT_EQ(read[1].idle, 0);
}

}  // namespace partition_test
}  // namespace depthgrid
