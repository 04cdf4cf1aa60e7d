#include "sweeps/doctor/rank_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/sweeps/doctor/fake_commands.hpp"

namespace depthgrid {
namespace doctor_test {

/// A folder with stand-ins for the programs.
struct Programs {
  std::filesystem::path folder;
  Programs() {
    std::string name = (std::filesystem::temp_directory_path() / "rank-checks.XXXXXX").string();
    folder = mkdtemp(name.data());
    for (const char* program : {"depthgrid", "depthgrid-worker"}) {
      std::ofstream(folder / program) << "#!/bin/sh\n";
      std::filesystem::permissions(folder / program, std::filesystem::perms::owner_all);
    }
  }
  ~Programs() { std::filesystem::remove_all(folder); }
  void add_plugin() const { std::ofstream(folder / "libdepthgrid_cuda.so") << "none"; }
  RankTrial trial() const { return {folder / "depthgrid", folder, false}; }
};

TEST(RankChecks, TwoRanksThatTrainAreWellAndThoseThatDoNotSayWhy) {
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

Machine machine_with(const std::vector<std::string>& gpus) {
  return {.host = "h", .cores = 1, .memory_bytes = 0, .gpus = gpus};
}

constexpr const char* kCards = "NVIDIA H100, 570.1, 81559 MiB\nNVIDIA H100, 570.1, 81559 MiB\n";

TEST(RankChecks, GpusNeedADriverThatAnswersAndThePlugin) {
  const Programs programs;
  const Machine none = machine_with({});
  expect_level(gpu_findings(none, programs.trial(), answers({}))[0], FindingLevel::Ok);
  const Machine two = machine_with({"0", "1"});
  expect_level(gpu_findings(two, programs.trial(), answers({}))[0], FindingLevel::Problem);
  const auto found = gpu_findings(two, programs.trial(), answers({{"nvidia-smi", says(kCards)}}));
  expect_level(*find(found, "GPUs"), FindingLevel::Ok);
  expect_level(*find(found, "CUDA and NCCL"), FindingLevel::Problem);
}

/// What gpu_findings() says of NCCL between the cards of a machine whose programs answer so, and
/// the command by which it was tried, empty for none.
struct BetweenGpus {
  Finding finding;
  std::vector<std::string> command;
};

/// @param alone  of the training on one card. @param together  of that by two ranks.
BetweenGpus between(const std::vector<std::string>& gpus, const CommandAnswer& alone,
                    const CommandAnswer& together) {
  const Programs programs;
  programs.add_plugin();
  BetweenGpus out;
  const auto found = gpu_findings(machine_with(gpus), programs.trial(),
                                  [&](const std::vector<std::string>& command, double) {
                                    if (command[0] == "nvidia-smi") return says(kCards);
                                    if (command[0] == programs.trial().program) return alone;
                                    if (command[0] != "env")
                                      return CommandAnswer{.code = 127, .out = {}, .err = {}};
                                    out.command = command;
                                    return together;
                                  });
  const Finding* const finding = find(found, "NCCL between GPUs");
  EXPECT_NE(finding, nullptr);
  if (finding != nullptr) out.finding = *finding;
  return out;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

TEST(RankChecks, TwoCardsTrainTogetherSoThatNcclIsTried) {
  const BetweenGpus well = between({"0", "1"}, says(""), says(""));
  expect_level(well.finding, FindingLevel::Ok);
  EXPECT_NE(well.finding.seen.find("trained a small model"), std::string::npos);
  EXPECT_TRUE(has(well.command, "mpirun"));
  EXPECT_TRUE(has(well.command, "resources.device=cuda"));
  EXPECT_TRUE(has(well.command, "resources.ranks_per_job=2"));
}

TEST(RankChecks, AnNcclThatFailsOrHangsIsAProblemWithACure) {
  const BetweenGpus fails =
      between({"0", "1"}, says(""),
              says("", 71, "NCCL: ncclCommInitRankConfig: unhandled system error\n\n"));
  expect_level(fails.finding, FindingLevel::Problem);
  EXPECT_EQ(fails.finding.seen,
            "ended with code 71: NCCL: ncclCommInitRankConfig: unhandled system error");
  EXPECT_NE(fails.finding.cure.find("NCCL_DEBUG=INFO"), std::string::npos);
  EXPECT_NE(fails.finding.cure.find("resources.ranks_per_job: 1"), std::string::npos);
  const BetweenGpus hangs =
      between({"0", "1"}, says(""), {.code = 137, .late = true, .out = {}, .err = {}});
  expect_level(hangs.finding, FindingLevel::Problem);
  EXPECT_EQ(hangs.finding.seen, "no end after 120 s");
}

TEST(RankChecks, WhereNcclIsNotTriedTheFindingSaysWhy) {
  const auto not_tried = [](const BetweenGpus& between, const std::string& why) {
    expect_level(between.finding, FindingLevel::Ok);
    EXPECT_EQ(between.finding.seen, "not tried: " + why);
  };
  not_tried(between({}, says(""), says("")), "no GPU");
  not_tried(between({"0"}, says(""), says("")), "one GPU");
  const BetweenGpus broken = between({"0", "1"}, says("", 1, "no kernel image"), says(""));
  not_tried(broken, "a GPU alone does not train");
  EXPECT_TRUE(broken.command.empty()) << "it would fail for that reason";
  not_tried(between({"0", "1"}, says(""), says("", 127)), "mpirun not found");
  not_tried(between({"MIG-a", "MIG-b"}, says(""),
                    says("", 0, "depthgrid: warning: ranks 0, 1 share the GPU h 0000:01: each\n")),
            "both ranks were given one card");
}

}  // namespace doctor_test
}  // namespace depthgrid
