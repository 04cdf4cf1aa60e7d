#include "worker/run/sweep_plan.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/plan_sequence.hpp"
#include "tests/worker/session/small_run.hpp"
#include "worker/run/team_work.hpp"

namespace depthgrid::testing {
namespace sweep_plan_test {

TEST(SweepPlan, TheStoreOfAnOrderHoldsItsPlan) {
  SmallRun small;
  const TemporaryFolder folder;
  RunCommand command = small.command;
  command.store = folder.path() / "new";
  const auto world = make_self_collective();

  const Sweep sweep = planned_sweep(command, *world);
  const Store store = opened_store(command, *world);
  Progress& progress = small.run.progress;
  publish_sweep(command, *world, sweep, store, progress);

  EXPECT_EQ(read_plan(store).cells.size(), 2U);
  EXPECT_EQ(read_plan(store).cells[1].id, small.sweep.cells[1].id);
  command.set = {"train.steps=7"};
  const Sweep other = planned_sweep(command, *world);
  publish_sweep(command, *world, other, store, progress);
  EXPECT_EQ(newest_plan(store), 2);
  command.mode = RunMode::Apart;
  command.cells = {sweep.cells[0].id};
  publish_sweep(command, *world, sweep, store, progress);
  EXPECT_EQ(newest_plan(store), 2) << "a process for one cell is part of another run";
}

TEST(SweepPlan, CellsWithAResultAreNotWanted) {
  SmallRun small;
  const auto world = make_self_collective();
  const auto wanted = [&] { return wanted_cells(small.command, *world, small.sweep, small.store); };
  EXPECT_EQ(wanted(), (std::vector<bool>{true, true}));

  Claim claim = small.claim({0});
  ASSERT_EQ(JobSession(small.run, claim.job, claim.cells).run(), SessionEnd::Done);

  EXPECT_EQ(wanted(), (std::vector<bool>{false, true}));
  small.command.cells = {small.sweep.cells[0].id};
  EXPECT_EQ(wanted(), (std::vector<bool>{false, false}));
  small.command.cells = {small.sweep.cells[1].id};
  EXPECT_EQ(wanted(), (std::vector<bool>{false, true}));
  small.command.cells.clear();
  small.command.only = "id = '" + small.sweep.cells[1].id + "'";
  EXPECT_EQ(wanted(), (std::vector<bool>{false, true}));
  small.command.only = "id = '" + small.sweep.cells[0].id + "'";
  EXPECT_EQ(wanted(), (std::vector<bool>{false, false}));
}

TEST(TeamWork, TheFirstRankTrainsEveryJobOfTheSweep) {
  SmallRun small;
  FusedJob first, second;
  first.cells = {0};
  second.cells = {1};

  const TeamOutcome outcome = lead_team(small.run, small.command, {first, second});

  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(outcome.failed, 0);
  EXPECT_EQ(outcome.code, ExitCode::Done);
  for (const CellPlan& cell : small.sweep.cells) EXPECT_TRUE(small.store.completed(cell.id));
}

}  // namespace sweep_plan_test
}  // namespace depthgrid::testing
