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

/// Costs by which a cell of this structure trains for so many seconds.
CostTable measured(const Sweep& sweep, double seconds) {
  StructureCost cost;
  cost.structure = sweep.cells[0].structure;
  cost.seconds_per_cell_step =
      seconds / static_cast<double>(sweep.cells[0].config.integer("train.steps"));
  cost.max_fused = 64;
  return {{cost.structure, cost}};
}

std::size_t tasks_on(const Sweep& sweep, double seconds, const std::string& sinfo,
                     std::optional<std::int64_t> limit = {}) {
  TaskPlanOptions options;
  options.times = measured(sweep, seconds);
  options.partitions = slurm_partitions(sinfo);
  options.seconds = limit;
  const auto groups = groups_of(sweep, options);
  EXPECT_EQ(groups.size(), 1U);
  std::size_t cells = 0;
  for (const auto& task : groups[0].tasks) cells += task.size();
  EXPECT_EQ(cells, sweep.cells.size());
  return groups[0].tasks.size();
}

TEST(TaskPlan, TasksAreAsShortAsLetsEverySlotThatIdlesHaveSome) {
  Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 160);
  sweep.run = make_config({{"packing.fuse", Value("off")}});
  // 320 cells of about 30 s; a task asks for one core.
  const std::string full = "p*|4|8|16000|(null)|infinite|4/0\n";
  const std::string one = "p*|4|2|16000|(null)|infinite|3/1\n";
  const std::string empty = "p*|4|8|16000|(null)|infinite|0/4\n";
  const std::size_t hours = tasks_on(sweep, 30, "");
  EXPECT_GE(hours, 3U);
  EXPECT_LE(hours, 4U) << "an hour each, where sinfo says nothing";
  EXPECT_EQ(tasks_on(sweep, 30, full), hours);
  EXPECT_EQ(tasks_on(sweep, 30, "p*|4|8|16000|(null)|infinite\n"), hours);
  const std::size_t two = tasks_on(sweep, 30, one);
  EXPECT_GE(two, 8U) << "four for each of two slots";
  EXPECT_LE(two, 10U);
  const std::size_t all = tasks_on(sweep, 30, empty);
  EXPECT_GE(all, 30U) << "32 slots, but none shorter than five minutes";
  EXPECT_LE(all, 36U);
  EXPECT_EQ(tasks_on(sweep, 0.3, empty), 1U) << "a minute and a half in all";
  EXPECT_GT(tasks_on(sweep, 30, "", 600), 2 * hours) << "half of the time limit";
  EXPECT_EQ(tasks_on(sweep, 30, "", 0), hours) << "without a limit";
}

TEST(TaskPlan, FusedJobsAreNoLargerThanLetsSlotsThatIdleHaveSome) {
  const Sweep sweep = synthetic_sweep({1e-3}, 64);
  EXPECT_EQ(tasks_on(sweep, 300, ""), 1U) << "one job of 64 cells";
  EXPECT_GE(tasks_on(sweep, 300, "p*|4|8|16000|(null)|infinite|0/4\n"), 16U);
}

TEST(TaskPlan, SlotsIdleOnNodesThatHoldATask) {
  const auto nodes = slurm_partitions(
      "gpu*|4|8|16000|gpu:a100:4|infinite|0/2\ngpu*|2|16|32000|gpu:a100:8|infinite|1/1\n"
      "high|6|8|16000|(null)|infinite|0/1\n");
  TaskRequest request;
  EXPECT_EQ(idle_slots(request, nodes), 2 * 8 + 16);
  request.slots = request.cores = 4;
  EXPECT_EQ(idle_slots(request, nodes), (2 * 2 + 4) * 4);
  request.gpus = 4;
  EXPECT_EQ(idle_slots(request, nodes), (2 + 2) * 4);
  request.memory = "20G";
  EXPECT_EQ(idle_slots(request, nodes), 4) << "one node has so much";
  request.memory = "4G";
  request.parallel = 3;
  EXPECT_EQ(idle_slots(request, nodes), 12);
  request.parallel = 0;
  request.nodes = 2;
  EXPECT_EQ(idle_slots(request, nodes), 8);
  EXPECT_EQ(idle_slots(request, {}), 0);
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
