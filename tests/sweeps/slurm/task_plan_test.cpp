#include "sweeps/slurm/task_plan.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/synthetic_sweep.hpp"

namespace depthgrid {
namespace task_plan_test {

std::vector<TaskGroup> groups_of(const Sweep& sweep, const TaskPlanOptions& options) {
  return task_groups(sweep, std::vector<bool>(sweep.cells.size(), true), options);
}

/// Costs by which a cell of this structure takes so long on one core that it needs a team.
CostTable long_cells(const std::string& structure) {
  StructureCost cost;
  cost.structure = structure;
  cost.flops_per_token = 1e12;
  return {{structure, cost}};
}

TEST(TaskPlan, CellsThatNeedTeamsGoIntoAnArrayOfTheirOwn) {
  Sweep sweep = synthetic_sweep({1e-3, 2e-3, 3e-3}, 1);
  sweep.cells[2].structure = "large";
  TaskPlanOptions options;
  options.most_ranks = 8;
  options.counts = long_cells("large");
  const auto groups = groups_of(sweep, options);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].ranks, 8);
  EXPECT_EQ(groups[0].request.cores, 8);
  EXPECT_EQ(groups[0].request.slots, 8);
  EXPECT_EQ(groups[0].tasks, (std::vector<std::vector<std::string>>{{sweep.cells[2].id}}));
  EXPECT_EQ(groups[1].ranks, 1);
  EXPECT_EQ(groups[1].request.cores, 1);
  EXPECT_EQ(groups[1].request.slots, 1);

  options.most_ranks = 1;  // no node has room for more
  EXPECT_EQ(groups_of(sweep, options).size(), 1U);
  sweep.run = make_config({{"resources.ranks_per_job", Value(std::int64_t{2})}});
  options.most_ranks = 8;
  const auto fixed = groups_of(sweep, options);
  ASSERT_EQ(fixed.size(), 1U) << "a number is taken literally";
  EXPECT_EQ(fixed[0].ranks, 2);
  EXPECT_EQ(fixed[0].request.cores, 2);
}

TEST(TaskPlan, TeamsOnCardsGetAsManyCards) {
  Sweep sweep = synthetic_sweep({1e-3}, 1);
  sweep.run = make_config({{"resources.device", Value("cuda")}});
  TaskPlanOptions options;
  options.most_ranks = most_ranks(sweep.run, 64, 4);
  EXPECT_EQ(options.most_ranks, 4);
  options.counts = long_cells(sweep.cells[0].structure);
  options.counts.begin()->second.flops_per_token = 1e15;
  const auto groups = groups_of(sweep, options);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].request.gpus, 4);
  EXPECT_EQ(groups[0].request.slots, 4);
}

TEST(TaskPlan, AChainStaysInOneTask) {
  const SweepFiles files;
  const Sweep sweep = files.load(kPhases, {"packing.fuse=off"});  // b starts from a
  const auto groups = groups_of(sweep, {});
  ASSERT_EQ(groups.size(), 1U);
  const auto& tasks = groups[0].tasks;
  EXPECT_EQ(tasks.size(), 4U) << "two chains, and c alone twice";
  for (const char* seed : {"s0", "s1"}) {
    const CellId a = cell_named(sweep, std::string("a,") + seed).id;
    const CellId b = cell_named(sweep, std::string("b,") + seed).id;
    const auto task = std::ranges::find_if(
        tasks, [&](const auto& cells) { return std::ranges::count(cells, a) == 1; });
    ASSERT_NE(task, tasks.end());
    EXPECT_EQ(*task, (std::vector<std::string>{a, b}));
  }
}

TEST(TaskPlan, CanariesAreOneCellOfEachStructureThatNeedsNoOther) {
  const SweepFiles files;
  const Sweep sweep = files.load(kPhases, {"packing.fuse=off"});
  TaskPlanOptions options;
  options.canary = true;
  const auto groups = groups_of(sweep, options);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0].canary);
  std::set<std::string> all;
  std::size_t cells = 0;
  for (const TaskGroup& group : groups) {
    for (const auto& task : group.tasks) {
      cells += task.size();
      all.insert(task.begin(), task.end());
    }
  }
  EXPECT_EQ(cells, 6U);
  EXPECT_EQ(all.size(), 6U) << "each cell once";
  for (const auto& task : groups[0].tasks) {
    for (const char* later : {"b,s0", "b,s1"}) EXPECT_NE(task[0], cell_named(sweep, later).id);
  }
}

TEST(TaskPlan, JobsThatStartFromEachOtherAreOneChain) {
  const auto job = [](const char* id, std::vector<std::string> after) {
    FusedJob out;
    out.id = id;
    out.after = std::move(after);
    return out;
  };
  const auto chains =
      chains_of({job("a", {}), job("b", {}), job("c", {"b"}), job("d", {}), job("e", {"a", "c"})});
  EXPECT_EQ(chains, (std::vector<std::vector<std::size_t>>{{0, 1, 2, 4}, {3}}));
}

}  // namespace task_plan_test
}  // namespace depthgrid
