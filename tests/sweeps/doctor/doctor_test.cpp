#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "storage/store.hpp"
#include "sweeps/doctor/doctor_report.hpp"
#include "sweeps/doctor/machine_checks.hpp"
#include "sweeps/doctor/site_profile.hpp"
#include "sweeps/doctor/slurm_checks.hpp"
#include "sweeps/doctor/store_checks.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/doctor/fake_commands.hpp"

namespace depthgrid {
namespace doctor_test {

constexpr double kGiB = 1 << 30;

TEST(Doctor, SpaceThatRunsOutIsAWarningAndNoneIsAProblem) {
  expect_level(space_finding(100 * kGiB, 1000000, true), FindingLevel::Ok);
  expect_level(space_finding(0.5 * kGiB, 1000000, true), FindingLevel::Warning);
  expect_level(space_finding(100 * kGiB, 5000, true), FindingLevel::Warning);
  expect_level(space_finding(100 * kGiB, 0, false), FindingLevel::Ok);
  expect_level(space_finding(1e6, 1000000, true), FindingLevel::Problem);
  expect_level(space_finding(100 * kGiB, 3, true), FindingLevel::Problem);
}

TEST(Doctor, ClocksMayDifferByAMinute) {
  expect_level(clock_finding(-59), FindingLevel::Ok);
  expect_level(clock_finding(61), FindingLevel::Warning);
  expect_level(clock_finding(-3600), FindingLevel::Warning);
}

TEST(Doctor, AFolderThatIsNotThereIsJudgedByTheOneAbove) {
  const auto findings =
      store_findings(std::filesystem::temp_directory_path() / "no" / "such" / "store");
  ASSERT_EQ(findings.size(), 5U);
  for (const Finding& finding : findings) EXPECT_NE(finding.level, FindingLevel::Problem);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::temp_directory_path() / "no"));
}

TEST(Doctor, AStoreThatRunWouldRefuseForItsPermissionsIsAProblem) {
  TemporaryFolder folder;
  chmod(folder.path().c_str(), 0770);
  const auto found = store_findings(folder.path());
  ASSERT_NE(find(found, "permissions"), nullptr);
  expect_level(*find(found, "permissions"), FindingLevel::Problem);
  EXPECT_NE(find(found, "permissions")->cure.find("chmod go-w"), std::string::npos);
  for (const bool below : {true, false}) {  // stores that are made in it have modes of their own
    const auto above = store_findings(below ? folder.path() / "none" : folder.path(), !below);
    expect_level(*find(above, "permissions"), FindingLevel::Ok);
  }
  chmod(folder.path().c_str(), 0750);
  const auto closed = store_findings(folder.path());
  expect_level(*find(closed, "permissions"), FindingLevel::Ok);
  EXPECT_EQ(find(closed, "permissions")->seen, "mode 750");
}

TEST(Doctor, AStoreThatIsSharedWithItsGroupIsAsItShouldBe) {
  TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s", FileAccess::Group);
  expect_level(*find(store_findings(store.root()), "permissions"), FindingLevel::Ok);
  chmod(store.root().c_str(), 0777);
  expect_level(*find(store_findings(store.root()), "permissions"), FindingLevel::Problem);
}

TEST(Doctor, AFileSystemWithoutModesIsNamedAlsoWhereTheStoreIsNotThereYet) {
  for (const bool is_store : {true, false}) {
    const Finding found = permissions_finding("/media/stick", {0777, EXFAT_SUPER_MAGIC}, is_store);
    expect_level(found, FindingLevel::Problem);
    EXPECT_NE(found.seen.find("exfat"), std::string::npos) << found.seen;
    EXPECT_EQ(found.cure.find("chmod go-w"), std::string::npos) << found.cure;
  }
}

TEST(Doctor, TheMachineHasCoresMemoryAndAUmask) {
  expect_level(processor_finding("a processor", nullptr), FindingLevel::Ok);
  expect_level(processor_finding("a processor", "base"), FindingLevel::Ok);
  expect_level(processor_finding("a processor", "avx1024"), FindingLevel::Problem);
  expect_level(cores_finding(4, 0), FindingLevel::Ok);
  expect_level(cores_finding(4, 4), FindingLevel::Ok);
  expect_level(cores_finding(4, 5), FindingLevel::Warning);
  expect_level(memory_finding(8 * kGiB), FindingLevel::Ok);
  expect_level(memory_finding(1 * kGiB), FindingLevel::Warning);
  expect_level(shared_memory_finding(kGiB, kGiB, 0), FindingLevel::Ok);
  expect_level(shared_memory_finding(64e6, 64e6, 0), FindingLevel::Warning);
  const Finding left = shared_memory_finding(kGiB, kGiB, 7);
  expect_level(left, FindingLevel::Warning);
  EXPECT_NE(left.cure.find("depthgrid gc"), std::string::npos);
  expect_level(umask_finding(0022), FindingLevel::Ok);
  expect_level(umask_finding(0077), FindingLevel::Ok);
  expect_level(umask_finding(0000), FindingLevel::Warning);
  expect_level(umask_finding(0222), FindingLevel::Problem);
  expect_level(data_finding(nullptr), FindingLevel::Ok);
  expect_level(data_finding("/nowhere/at/all"), FindingLevel::Problem);
  expect_level(data_finding("/"), FindingLevel::Ok);
}

constexpr const char* kConfig = R"(Configuration data as of 2026-01-01T00:00:00
AccountingStorageType   = accounting_storage/none
MaxArraySize            = 1001
MpiDefault              = pmix
PreemptMode             = REQUEUE
SlurmctldParameters     = preempt_send_user_signal
)";

std::map<std::string, CommandAnswer> lab() {
  return {{"sbatch --version", says("slurm-wlm 22.05.8\n")},
          {"scontrol show", says(kConfig)},
          {"srun --mpi=list", says("", 0,
                                   "MPI plugin types are...\n\tpmi2\n\tnone\n\tpmix\n"
                                   "specific pmix plugin versions available: pmix_v4\n")},
          {"sinfo",
           says("gpu*|4|8|16000|gpu:a100:4(S:0-1)|1:00:00\nhigh|4|8|16000|(null)|infinite\n")}};
}

TEST(Doctor, SlurmIsReadFromItsOwnCommands) {
  std::vector<Finding> problems;
  const auto facts = slurm_facts(answers(lab()), problems);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(facts->mpi, (std::vector<std::string>{"pmi2", "none", "pmix", "pmix_v4"}));
  ASSERT_EQ(facts->partitions.size(), 2U);
  EXPECT_EQ(facts->partitions[0].name, "gpu");
  EXPECT_TRUE(facts->partitions[0].standard);
  EXPECT_EQ(facts->partitions[0].gpus, 4);
  EXPECT_EQ(facts->partitions[1].gpus, 0);
  const auto findings = slurm_findings(*facts, 180);
  for (const Finding& finding : findings) expect_level(finding, FindingLevel::Ok);
  EXPECT_NE(find(findings, "job arrays")->seen.find("1001"), std::string::npos);
}

TEST(Doctor, WhatSlurmLacksHasACure) {
  SlurmFacts facts;
  facts.config = {{"MaxArraySize", "0"}, {"PreemptMode", "CANCEL"}};
  facts.mpi = {"none"};
  const auto findings = slurm_findings(facts, 180);
  expect_level(*find(findings, "job arrays"), FindingLevel::Problem);
  expect_level(*find(findings, "partitions"), FindingLevel::Problem);
  expect_level(*find(findings, "preemption"), FindingLevel::Warning);
  expect_level(*find(findings, "srun --mpi"), FindingLevel::Warning);
}

TEST(Doctor, AControllerThatDoesNotAnswerIsAProblemAndNoSlurmIsNone) {
  std::vector<Finding> problems;
  EXPECT_FALSE(slurm_facts(answers({}), problems));
  expect_level(problems.at(0), FindingLevel::Ok);
  auto silent = lab();
  silent["scontrol show"] = {.code = 137, .late = true, .out = "", .err = ""};
  EXPECT_FALSE(slurm_facts(answers(silent), problems));
  expect_level(problems.at(1), FindingLevel::Problem);
  EXPECT_NE(problems[1].seen.find("does not answer in 10 s"), std::string::npos);
  auto lost = lab();
  lost["sbatch --version"] = says("", 1, "sbatch: error: no configuration\n");
  EXPECT_FALSE(slurm_facts(answers(lost), problems));
  expect_level(problems.at(2), FindingLevel::Warning);
}

TEST(Doctor, GenericResourcesAreCounted) {
  EXPECT_EQ(gpus_of_gres("(null)"), 0);
  EXPECT_EQ(gpus_of_gres("gpu:4"), 4);
  EXPECT_EQ(gpus_of_gres("gpu:a100:4(S:0-1)"), 4);
  EXPECT_EQ(gpus_of_gres("shard:8,gpu:a100:2,gpu:h100:4(S:0)"), 6);
  EXPECT_EQ(gpus_of_gres("gpu"), 1);
}

TEST(Doctor, TheSiteProfileNamesThePartitionWithTheMostGpus) {
  std::vector<Finding> problems;
  const std::string text = site_profile(*slurm_facts(answers(lab()), problems));
  EXPECT_NE(text.find("\nslurm:\n  partition: gpu\nresources:\n  nodes: 1\n  gpus: 4\n"
                      "  cpus_per_gpu: 2\n  time: \"1:00:00\"\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("launcher"), std::string::npos);
  EXPECT_THROW(site_profile({}), UserError);
}

TEST(Doctor, TheReportCountsAndTheJsonIsAContract) {
  const std::vector<Finding> findings = {{"a", FindingLevel::Ok, "fine"},
                                         {"b", FindingLevel::Warning, "so so", "do this"}};
  EXPECT_FALSE(has_problem(findings));
  EXPECT_NE(doctor_text(findings).find("2 checks, 1 warnings, 0 problems"), std::string::npos);
  EXPECT_NE(doctor_text(findings).find("do this"), std::string::npos);
  const auto json = parse_json(doctor_json(findings));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_TRUE(json.at("findings").at(0).at("cure").is_null());
  EXPECT_EQ(json.at("findings").at(1).at("cure"), "do this");
  EXPECT_TRUE(has_problem({{"c", FindingLevel::Problem, "bad", "cure"}}));
}

}  // namespace doctor_test
}  // namespace depthgrid
