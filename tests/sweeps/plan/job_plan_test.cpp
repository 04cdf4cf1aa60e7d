#include "sweeps/plan/job_plan.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace job_plan_test {

/// `counts[s]` cells of structure s, in the order of the structures, one second each.
std::vector<JobCell> cells_of(const std::vector<int>& counts, double seconds = 1) {
  std::vector<JobCell> cells;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    for (int i = 0; i < counts[s]; ++i) {
      cells.push_back(
          {"c" + std::to_string(cells.size()), "structure" + std::to_string(s), seconds});
    }
  }
  return cells;
}

CostTable costs_of(std::size_t structures, std::int64_t max_fused) {
  CostTable costs;
  for (std::size_t s = 0; s < structures; ++s) {
    StructureCost cost;
    cost.structure = "structure" + std::to_string(s);
    cost.max_fused = max_fused;
    cost.bytes_per_cell = 100;
    cost.fixed_bytes = 50;
    costs[cost.structure] = cost;
  }
  return costs;
}

std::vector<FusedJob> plan(const std::vector<JobCell>& cells, const PackingOptions& options,
                           const CostTable& costs) {
  return plan_jobs(cells, std::vector<bool>(cells.size(), true), options, costs);
}

std::vector<std::size_t> sizes(const std::vector<FusedJob>& jobs) {
  std::vector<std::size_t> out;
  for (const FusedJob& job : jobs) out.push_back(job.cells.size());
  return out;
}

using Sizes = std::vector<std::size_t>;

TEST(JobPlan, CellsOfOneStructureFillOneJobOnOneTeam) {
  const auto jobs = plan(cells_of({8}), {}, costs_of(1, 16));
  ASSERT_EQ(sizes(jobs), Sizes{8});
  EXPECT_EQ(jobs[0].why, "fused: 8 cells of structure structur…");
  EXPECT_DOUBLE_EQ(jobs[0].predicted_seconds, 8);
  EXPECT_DOUBLE_EQ(jobs[0].predicted_bytes, 850);
  EXPECT_EQ(jobs[0].id.size(), 12u);
}

TEST(JobPlan, MaxFusedCutsAGroupIntoEqualPieces) {
  const auto jobs = plan(cells_of({10}), {}, costs_of(1, 4));
  ASSERT_EQ(sizes(jobs), (Sizes{4, 3, 3}));
  EXPECT_NE(jobs[0].why.find("split in 3: fusing more than 4 gains nothing"), std::string::npos)
      << jobs[0].why;
}

TEST(JobPlan, MemoryBoundsWhatIsFused) {
  PackingOptions options;
  options.memory_bytes = 460;  // 50 + 4 * 100
  const auto jobs = plan(cells_of({8}), options, costs_of(1, 16));
  ASSERT_EQ(sizes(jobs), (Sizes{4, 4}));
  EXPECT_NE(jobs[0].why.find("memory fits only 4"), std::string::npos) << jobs[0].why;
}

TEST(JobPlan, TwentyFourCellsOfThreeStructuresBecomeSixJobsOfFourForTwoTeams) {
  PackingOptions options;
  options.teams = 2;
  const auto jobs = plan(cells_of({8, 8, 8}), options, costs_of(3, 16));
  EXPECT_EQ(sizes(jobs), (Sizes{4, 4, 4, 4, 4, 4}));
  EXPECT_NE(jobs[0].why.find("balance over 2 teams"), std::string::npos) << jobs[0].why;
}

TEST(JobPlan, TheLastTeamEndsAsEarlyAsWholeCellsAllow) {
  for (const std::int64_t teams : {1, 2, 3, 4, 5, 8}) {
    PackingOptions options;
    options.teams = teams;
    const auto jobs = plan(cells_of({8}), options, costs_of(1, 16));
    EXPECT_DOUBLE_EQ(predicted_makespan(jobs, teams), std::ceil(8.0 / static_cast<double>(teams)))
        << teams;
  }
}

TEST(JobPlan, BalancedGroupsAreNotCutFurther) {
  PackingOptions options;
  options.teams = 2;
  EXPECT_EQ(sizes(plan(cells_of({8, 8}), options, costs_of(2, 16))), (Sizes{8, 8}));
}

TEST(JobPlan, OnlyAsManyCellsAreTakenApartAsBalanceNeeds) {
  PackingOptions options;
  options.teams = 2;
  EXPECT_EQ(sizes(plan(cells_of({4, 4, 2}), options, costs_of(3, 16))), (Sizes{4, 4, 1, 1}));
}

TEST(JobPlan, FuseOffTrainsEveryCellAlone) {
  PackingOptions options;
  options.fuse = 1;
  const auto jobs = plan(cells_of({3}), options, costs_of(1, 16));
  ASSERT_EQ(sizes(jobs), (Sizes{1, 1, 1}));
  EXPECT_EQ(jobs[0].why, "alone: packing.fuse is off");
}

TEST(JobPlan, ANumberOfCellsIsTakenLiterally) {
  PackingOptions options;
  options.fuse = 8;
  options.teams = 4;
  EXPECT_EQ(sizes(plan(cells_of({12}), options, costs_of(1, 2))), (Sizes{8, 4}));
}

TEST(JobPlan, ASingleCellSaysThatItIsTheOnlyOne) {
  const auto jobs = plan(cells_of({1, 2}), {}, costs_of(2, 4));
  ASSERT_EQ(sizes(jobs), (Sizes{2, 1}));
  EXPECT_EQ(jobs[1].why, "alone: the only cell of structure structur…");
}

TEST(JobPlan, LongestJobsComeFirstUnlessTheFileOrders) {
  std::vector<JobCell> cells = cells_of({2, 2});
  cells[2].seconds = cells[3].seconds = 5;
  PackingOptions options;
  EXPECT_EQ(plan(cells, options, costs_of(2, 4))[0].cells, (Sizes{2, 3}));
  options.order = JobOrder::File;
  EXPECT_EQ(plan(cells, options, costs_of(2, 4))[0].cells, (Sizes{0, 1}));
}

TEST(JobPlan, UnknownCostsStillGiveAPlan) {
  const auto jobs = plan(cells_of({20}, kNaN), {}, {});
  EXPECT_EQ(sizes(jobs), (Sizes{7, 7, 6}));
  EXPECT_TRUE(std::isnan(jobs[0].predicted_seconds));
  EXPECT_TRUE(std::isnan(jobs[0].predicted_bytes));
  EXPECT_TRUE(std::isnan(predicted_makespan(jobs, 2)));
}

TEST(JobPlan, AnyGridGivesEveryWantedCellOnceAndMixesNoStructures) {
  std::mt19937 draw(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<JobCell> cells;
    std::vector<bool> wanted;
    const int structures = 1 + static_cast<int>(draw() % 6);
    const int n = static_cast<int>(draw() % 60);
    for (int i = 0; i < n; ++i) {
      const auto s = draw() % static_cast<unsigned>(structures);
      cells.push_back({std::to_string(i), "structure" + std::to_string(s), 1.0 + s});
      wanted.push_back(draw() % 4 != 0);
    }
    PackingOptions options;
    options.fuse = static_cast<std::int64_t>(draw() % 4);
    options.teams = 1 + static_cast<std::int64_t>(draw() % 5);
    const auto max_fused = 1 + static_cast<std::int64_t>(draw() % 9);
    const auto costs = costs_of(static_cast<std::size_t>(structures), max_fused);

    const auto jobs = plan_jobs(cells, wanted, options, costs);
    const auto again = plan_jobs(cells, wanted, options, costs);

    std::vector<int> seen(cells.size(), 0);
    ASSERT_EQ(jobs.size(), again.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_EQ(jobs[j].id, again[j].id);
      EXPECT_EQ(jobs[j].cells, again[j].cells);
      EXPECT_FALSE(jobs[j].why.empty());
      EXPECT_TRUE(std::is_sorted(jobs[j].cells.begin(), jobs[j].cells.end()));
      const auto bound = options.fuse > 0 ? options.fuse : max_fused;
      EXPECT_LE(static_cast<std::int64_t>(jobs[j].cells.size()), bound);
      for (const std::size_t row : jobs[j].cells) {
        ++seen[row];
        EXPECT_EQ(cells[row].structure, jobs[j].structure);
      }
    }
    for (std::size_t row = 0; row < cells.size(); ++row) EXPECT_EQ(seen[row], wanted[row] ? 1 : 0);
  }
}

CellPlan cell_plan(const std::string& id, const std::string& structure, const ValueMap& leaves) {
  CellPlan cell;
  cell.id = id;
  cell.structure = structure;
  cell.overrides = leaves;
  cell.config = make_config(leaves);
  return cell;
}

TEST(JobPlan, OnlyLeavesOfTheFusionKeySeparate) {
  const std::vector<CellPlan> cells = {
      cell_plan("a", "s0", {{"model.n_layers", 2}, {"train.lr", 1e-3}}),
      cell_plan("b", "s0", {{"model.n_layers", 2}, {"train.lr", 2e-3}}),
      cell_plan("c", "s1", {{"model.n_layers", 4}, {"train.lr", 1e-3}})};
  EXPECT_EQ(separating_leaves(cells), std::vector<std::string>{"model.n_layers"});
  const auto jobs = plan_jobs(cells, {true, true, true}, {}, {});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].why, "fused: 2 cells of structure s0… (model.n_layers=2)");
  EXPECT_EQ(jobs[1].why, "alone: the only cell of structure s1… (model.n_layers=4)");
}

TEST(JobPlan, ACapacitySeparatesWhereTokensAreGathered) {
  const auto cells = [](const std::string& execution) {
    std::vector<CellPlan> out;
    for (const double gamma : {0.25, 0.251, 0.5}) {
      out.push_back(cell_plan("c" + std::to_string(out.size()), "",
                              {{"model.family", "tdt"},
                               {"model.tdt.execution", execution},
                               {"model.tdt.capacity", gamma},
                               {"data.seq_len", 128}}));
      out.back().structure = structure_key(out.back().config);
    }
    return out;
  };
  const auto masked = plan_jobs(cells("masked"), {true, true, true}, {}, {});
  ASSERT_EQ(masked.size(), 1u);
  EXPECT_EQ(masked[0].why.find("model.tdt"), std::string::npos);
  const auto gathered = plan_jobs(cells("gathered"), {true, true, true}, {}, {});
  ASSERT_EQ(gathered.size(), 2u);
  EXPECT_EQ(gathered[0].cells.size(), 2u);
  EXPECT_TRUE(gathered[0].why.ends_with("(model.tdt.capacity=32 gathered tokens)"))
      << gathered[0].why;
  EXPECT_TRUE(gathered[1].why.ends_with("(model.tdt.capacity=64 gathered tokens)"))
      << gathered[1].why;
}

TEST(JobPlan, PackingOptionsComeFromTheRun) {
  const PackingOptions defaults = packing_options(make_config({}), 3);
  EXPECT_EQ(defaults.fuse, 0);
  EXPECT_EQ(defaults.order, JobOrder::LongestFirst);
  EXPECT_EQ(defaults.teams, 3);
  EXPECT_EQ(defaults.ranks_per_job, 1);
  const PackingOptions given = packing_options(
      make_config({{"packing.fuse", 4}, {"packing.order", "file"}, {"resources.ranks_per_job", 2}}),
      1);
  EXPECT_EQ(given.fuse, 4);
  EXPECT_EQ(given.order, JobOrder::File);
  EXPECT_EQ(given.ranks_per_job, 2);
  EXPECT_EQ(packing_options(make_config({{"packing.fuse", "off"}}), 1).fuse, 1);
}

TEST(JobPlan, SourcesComeBeforeTheLongestAndJobsNameThoseTheyWaitFor) {
  std::vector<JobCell> cells = cells_of({1, 2, 1}, 1);
  cells[0].seconds = 50;
  for (std::size_t i : {1U, 2U}) {
    cells[i].start = "c3";
    cells[i].depth = 1;
    cells[i].seconds = 100;
  }
  PackingOptions options;
  options.teams = 2;
  const auto jobs = plan(cells, options, costs_of(3, 8));

  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].cells, Sizes{0});
  EXPECT_EQ(jobs[1].cells, Sizes{3});
  EXPECT_TRUE(jobs[0].after.empty() && jobs[1].after.empty());
  for (std::size_t i : {2U, 3U}) {
    EXPECT_EQ(jobs[i].after, std::vector<std::string>{jobs[1].id});
    EXPECT_NE(jobs[i].why.find("after " + jobs[1].id), std::string::npos) << jobs[i].why;
  }
  EXPECT_DOUBLE_EQ(predicted_makespan(jobs, 2), 150);  // 1 + 100 beside 50 + 100
  EXPECT_DOUBLE_EQ(predicted_makespan(jobs, 9), 101);  // nobody can begin before the source ends

  // A source with a result is waited for by nobody.
  const auto rest = plan_jobs(cells, {true, true, true, false}, options, costs_of(3, 8));
  for (const FusedJob& job : rest) EXPECT_TRUE(job.after.empty());
}

}  // namespace job_plan_test
}  // namespace depthgrid
