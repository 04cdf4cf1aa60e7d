#include "sweeps/plan/describe_cache.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_processes.hpp"

namespace depthgrid {
namespace describe_cache_test {

namespace fs = std::filesystem;

/// A folder with a program that answers like the worker and counts its calls.
class DescribeCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { write_worker(715840); }

  void write_worker(int parameters) {
    std::ofstream(worker()) << "#!/bin/sh\ncat > " << folder_.path() / "asked" << "\necho x >> "
                            << folder_.path() / "calls"
                            << "\necho '{\"schema\": 1, \"structures\": ["
                            << answer("s0", parameters) << ", " << answer("s1", parameters)
                            << "]}'\n";
    fs::permissions(worker(), fs::perms::owner_all);
  }

  static std::string answer(const std::string& key, int parameters) {
    return "{\"structure\": \"" + key + "\", \"parameters\": " + std::to_string(parameters) +
           ", \"parameter_groups\": {\"trunk\": 5}, \"flops_per_token\": 1e6, "
           "\"student_flops\": [4e5, 5e5, 2e5], \"bytes_per_cell\": "
           "2e6, "
           "\"activation_bytes_per_cell\": 1e6, \"max_fused\": 8, \"depends_on_h\": true, "
           "\"time_feature_rank\": null, \"seconds_per_cell_step\": 0.01, "
           "\"seconds_per_eval_token\": 1e-6}";
  }

  std::size_t calls() const {
    std::ifstream in(folder_.path() / "calls");
    std::size_t n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
  }

  fs::path worker() const { return folder_.path() / "worker"; }
  fs::path cache() const { return folder_.path() / "cache"; }

  static std::vector<CellPlan> cells() {
    std::vector<CellPlan> out(3);
    out[0].structure = out[1].structure = "s0";
    out[2].structure = "s1";
    return out;
  }

  TemporaryFolder folder_;
};

TEST_F(DescribeCacheTest, OneCallAnswersAllStructures) {
  const CostTable costs = DescribeCache(worker(), cache()).costs(cells());
  EXPECT_EQ(calls(), 1u);
  ASSERT_EQ(costs.size(), 2u);
  const StructureCost& cost = costs.at("s0");
  EXPECT_EQ(cost.parameters, 715840);
  EXPECT_EQ(cost.max_fused, 8);
  EXPECT_TRUE(cost.depends_on_h);
  EXPECT_EQ(cost.time_feature_rank, -1);
  EXPECT_DOUBLE_EQ(cost.seconds_per_cell_step, 0.01);
  ASSERT_EQ(cost.parameter_groups.size(), 1u);
  EXPECT_EQ(cost.parameter_groups[0].first, "trunk");
  std::ifstream asked(folder_.path() / "asked");
  const std::string text{std::istreambuf_iterator<char>(asked), {}};
  EXPECT_NE(text.find("\"structure\":\"s1\""), std::string::npos);
  EXPECT_NE(text.find("\"train.lr\""), std::string::npos);
}

TEST_F(DescribeCacheTest, ASecondCallAsksNobody) {
  DescribeCache(worker(), cache()).costs(cells());
  const CostTable costs = DescribeCache(worker(), cache()).costs(cells());
  EXPECT_EQ(calls(), 1u);
  EXPECT_EQ(costs.at("s1").parameters, 715840);
  EXPECT_TRUE(costs.at("s1").depends_on_h);
}

TEST_F(DescribeCacheTest, AnotherWorkerIsAskedAgain) {
  DescribeCache(worker(), cache()).costs(cells());
  write_worker(99);  // another size
  EXPECT_EQ(DescribeCache(worker(), cache()).costs(cells()).at("s0").parameters, 99);
}

// Cells of one structure may be of different capacity.
TEST_F(DescribeCacheTest, FlopsAreThoseOfACellNotOfItsStructure) {
  const DescribeCache costs(worker(), cache());
  const auto candidate = [](const char* family, double capacity) {
    ValueMap leaves = {{"model.family", family}};
    if (capacity < 1) leaves.emplace_back("model.tdt.capacity", capacity);
    return MatchCandidate{"s0", make_config(leaves)};
  };
  const std::vector<MatchCandidate> candidates = {candidate("tdt", 0.5), candidate("tdt", 0.25),
                                                  candidate("standard", 1)};

  const std::vector<double> flops = described_amounts(costs)(MatchOn::Flops, candidates);

  ASSERT_EQ(flops.size(), 3U);
  EXPECT_DOUBLE_EQ(flops[0], 4e5 + 5e5 / 2 + 2e5 / 4);
  EXPECT_DOUBLE_EQ(flops[1], 4e5 + 5e5 / 4 + 2e5 / 16);
  EXPECT_DOUBLE_EQ(flops[2], 1e6);
  EXPECT_EQ(described_amounts(costs)(MatchOn::Parameters, candidates)[1], 715840);
}

TEST_F(DescribeCacheTest, ADamagedEntryIsAsGoodAsAbsent) {
  DescribeCache(worker(), cache()).costs(cells());
  for (const auto& entry : fs::directory_iterator(cache()))
    std::ofstream(entry.path()) << "{\"schema\":";
  EXPECT_EQ(DescribeCache(worker(), cache()).costs(cells()).size(), 2u);
  EXPECT_EQ(calls(), 2u);
}

TEST_F(DescribeCacheTest, AFolderThatCannotBeWrittenCostsOnlyTime) {
  std::ofstream(cache()) << "a file";
  EXPECT_EQ(DescribeCache(worker(), cache()).costs(cells()).size(), 2u);
  EXPECT_EQ(DescribeCache(worker(), "").costs(cells()).size(), 2u);
}

TEST_F(DescribeCacheTest, TheWorkerIsAskedOnItsStandardInput) {
  std::vector<PretendedProcesses::Asked> calls;
  const PretendedProcesses processes([&](const PretendedProcesses::Asked& asked) {
    calls.push_back(asked);
    CommandAnswer out;
    out.out = R"({"schema": 1, "structures": [)" + answer("s0", 3) + ", " + answer("s1", 4) + "]}";
    return out;
  });
  EXPECT_EQ(DescribeCache(worker(), "", processes).costs(cells()).at("s1").parameters, 4);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].command, (std::vector<std::string>{worker().string(), "describe"}));
  EXPECT_NE(calls[0].input.find("\"structure\":\"s1\""), std::string::npos);
  EXPECT_EQ(DescribeCacheTest::calls(), 0U) << "no program was started";
}

TEST_F(DescribeCacheTest, AMissingOrFailingWorkerIsNamed) {
  try {
    DescribeCache(folder_.path() / "absent", cache()).costs(cells());
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadConfig);
    EXPECT_NE(std::string(e.what()).find("absent"), std::string::npos);
  }
  EXPECT_THROW(DescribeCache("/bin/false", cache()).costs(cells()), UserError);
}

}  // namespace describe_cache_test
}  // namespace depthgrid
