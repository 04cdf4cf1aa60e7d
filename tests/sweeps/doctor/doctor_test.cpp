#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/doctor/doctor_report.hpp"
#include "sweeps/doctor/gpu_links.hpp"
#include "sweeps/doctor/machine_checks.hpp"
#include "sweeps/doctor/rank_checks.hpp"
#include "sweeps/doctor/site_profile.hpp"
#include "sweeps/doctor/slurm_checks.hpp"
#include "sweeps/doctor/store_checks.hpp"

namespace depthgrid {
namespace doctor_test {

constexpr double kGiB = 1 << 30;

/// Every warning and problem has a cure.
void expect_level(const Finding& finding, FindingLevel level) {
  EXPECT_EQ(finding.level, level) << finding.what << ": " << finding.seen;
  EXPECT_FALSE(finding.seen.empty()) << finding.what;
  EXPECT_TRUE(level == FindingLevel::Ok || !finding.cure.empty()) << finding.what;
}

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
  ASSERT_EQ(findings.size(), 4U);
  for (const Finding& finding : findings) EXPECT_NE(finding.level, FindingLevel::Problem);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::temp_directory_path() / "no"));
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

/// Answers by the first word, or the first two; anything else is not found.
CommandRunner answers(const std::map<std::string, CommandAnswer>& known) {
  return [known](const std::vector<std::string>& command, double) {
    const std::string two = command[0] + (command.size() > 1 ? " " + command[1] : "");
    for (const std::string& words : {two, command[0]}) {
      if (const auto at = known.find(words); at != known.end()) return at->second;
    }
    return CommandAnswer{.code = 127, .late = false, .out = "", .err = ""};
  };
}

CommandAnswer says(const std::string& out, int code = 0, const std::string& err = "") {
  return {.code = code, .late = false, .out = out, .err = err};
}

const Finding* find(const std::vector<Finding>& findings, const std::string& what) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return &finding;
  }
  return nullptr;
}

/// A folder with stand-ins for the programs.
struct Programs {
  std::filesystem::path folder;
  Programs() {
    std::string name = (std::filesystem::temp_directory_path() / "doctor-test.XXXXXX").string();
    folder = mkdtemp(name.data());
    for (const char* program : {"depthgrid", "depthgrid-worker"}) {
      std::ofstream(folder / program) << "#!/bin/sh\n";
      std::filesystem::permissions(folder / program, std::filesystem::perms::owner_all);
    }
  }
  ~Programs() { std::filesystem::remove_all(folder); }
  RankTrial trial() const { return {folder / "depthgrid", folder, false}; }
};

TEST(Doctor, TwoRanksThatTrainAreWellAndThoseThatDoNotSayWhy) {
  const Programs programs;
  const auto version = says("mpirun (Open MPI) 4.1.4\n\nReport bugs\n");
  const auto well =
      mpi_findings(programs.trial(), answers({{"mpirun --version", version}, {"env", says("")}}));
  ASSERT_NE(find(well, "two ranks"), nullptr);
  expect_level(*find(well, "two ranks"), FindingLevel::Ok);
  EXPECT_EQ(find(well, "mpirun")->seen, "mpirun (Open MPI) 4.1.4");
  const auto ill = mpi_findings(
      programs.trial(),
      answers({{"mpirun --version", version}, {"env", says("", 1, "a\nno network\n\n")}}));
  expect_level(*find(ill, "two ranks"), FindingLevel::Problem);
  EXPECT_NE(find(ill, "two ranks")->seen.find("no network"), std::string::npos);
  const auto none = mpi_findings(programs.trial(), answers({}));
  expect_level(*find(none, "mpirun"), FindingLevel::Warning);
  EXPECT_EQ(find(none, "two ranks"), nullptr);
  std::filesystem::remove(programs.folder / "depthgrid-worker");
  const auto half = mpi_findings(programs.trial(), answers({{"mpirun --version", version}}));
  expect_level(*find(half, "worker"), FindingLevel::Problem);
}

TEST(Doctor, GpusNeedADriverThatAnswersAndThePlugin) {
  const Programs programs;
  const Machine none{.host = "h", .cores = 1, .memory_bytes = 0, .gpus = {}};
  expect_level(gpu_findings(none, programs.trial(), answers({}))[0], FindingLevel::Ok);
  const Machine two{.host = "h", .cores = 1, .memory_bytes = 0, .gpus = {"0", "1"}};
  expect_level(gpu_findings(two, programs.trial(), answers({}))[0], FindingLevel::Problem);
  const auto smi = says("NVIDIA H100, 570.1, 81559 MiB\nNVIDIA H100, 570.1, 81559 MiB\n");
  const auto found = gpu_findings(two, programs.trial(), answers({{"nvidia-smi", smi}}));
  expect_level(*find(found, "GPUs"), FindingLevel::Ok);
  expect_level(*find(found, "CUDA and NCCL"), FindingLevel::Problem);
}

TEST(Doctor, LinksAreThoseOfTheTopology) {
  EXPECT_EQ(links_finding("\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n").seen,
            "NVLink between all GPUs");
  EXPECT_EQ(links_finding("\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n").seen,
            "1 of 1 pairs reach each other through the host");
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
