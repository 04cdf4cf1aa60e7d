#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/live/live_cells.hpp"
#include "sweeps/plan/kept_tokens.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace launched_sweep_test {

using Rows = std::vector<std::size_t>;

constexpr double kTokens = 200'000;  // of `valid`

/// Four cells of two structures, whose last evaluation is of the whole split.
class LaunchedSweep : public ::testing::Test {
 protected:
  LaunchedSweep() : sweep_(cells_of(32)) {
    const Sweep wide = cells_of(128);
    sweep_.cells.insert(sweep_.cells.end(), wide.cells.begin(), wide.cells.end());
    for (const std::size_t row : {0U, 2U}) {
      StructureCost cost;
      cost.structure = sweep_.cells[row].structure;
      cost.flops_per_token = row == 0 ? 1e5 : 3e6;
      counts_[cost.structure] = cost;
      set_rough_times(cost, sweep_.cells[row].config);
      timed_[cost.structure] = cost;
    }
  }

  static Sweep cells_of(std::int64_t width) {
    return synthetic_sweep({1e-3, 2e-3}, 1, {{"model.d_model", width}, {"train.steps", 1000}});
  }
  static LaunchPlan launch(Rows rows, std::int64_t ranks) {
    LaunchPlan out;
    out.rows = std::move(rows);
    out.jobs.assign(out.rows.size(), 1);
    out.ranks = ranks;
    return out;
  }
  void keep_card() const {
    store_.freeze_text(data_card_name(sweep_.cells[0].config),
                       R"({"schema":1,"splits":{"valid":{"tokens":200000}}})");
  }

  TemporaryFolder folder_;
  Store store_ = Store::open_or_create(folder_.path() / "store");
  Sweep sweep_;
  CostTable counts_;  // as a supervisor has them where nothing was measured
  CostTable timed_;   // as a run has them there
};

/// Two jobs are at work, of one structure each.
double remaining(LiveSweep sweep) {
  for (const auto& [rank, row, seconds] :
       {std::tuple{0, std::size_t{0}, 3.0}, {1, std::size_t{2}, 20.0}}) {
    LiveEvent e{.kind = LiveKind::JobStart,
                .rank = rank,
                .job = std::to_string(row),
                .rows = {row},
                .steps = 1000};
    sweep.apply(e, 0);
    e.kind = LiveKind::Step;
    e.step = 250;
    e.seconds = seconds;
    sweep.apply(e, seconds);
  }
  return sweep.view(21).remaining;
}

// Two teams of two ranks each, in a run of four ranks and on four slots of a supervisor.
TEST_F(LaunchedSweep, ARunAndASupervisorShowTheSameRemainingTime) {
  keep_card();
  LiveSweep run(sweep_.name, live_cells(
                                 sweep_, store_, timed_, [](std::size_t) { return 2; },
                                 [](const CellConfig&, const std::string&) { return kTokens; }));
  run.plan({{0}, {1}, {2}, {3}}, 2);
  const double shown = remaining(std::move(run));
  EXPECT_GT(shown, 60) << "three quarters of the wide cell";
  const auto supervised = [&](std::int64_t ranks, std::int64_t slots) {
    return remaining(launched_sweep(sweep_, store_, counts_,
                                    {launch({0, 1}, ranks), launch({2, 3}, ranks)}, slots, {}));
  };
  EXPECT_DOUBLE_EQ(supervised(2, 4), shown);
  EXPECT_GT(std::abs(supervised(1, 4) - shown), 1) << "four jobs at a time";
  EXPECT_GT(std::abs(supervised(1, 2) - shown), 0.01) << "what a team cannot share is the rest";
}

TEST_F(LaunchedSweep, KnowsWholeSplitsByTheStoresCard) {
  const auto ending = [&] {
    return remaining(launched_sweep(sweep_, store_, timed_, {launch({0, 1, 2, 3}, 1)}, 1, {}));
  };
  const double without = ending();
  keep_card();
  EXPECT_GT(ending(), without + 1);
}

TEST_F(LaunchedSweep, ShowsTheCellsOfATask) {
  const LiveSweep all = launched_sweep(sweep_, store_, timed_, {launch({1}, 1)}, 1, {});
  EXPECT_EQ(all.cells(), 4);
  const LiveSweep task =
      launched_sweep(sweep_, store_, timed_, {launch({1}, 1)}, 1, {sweep_.cells[1].id});
  EXPECT_EQ(task.cells(), 1);
  EXPECT_EQ(task.open(), Rows{1});
}

}  // namespace launched_sweep_test
}  // namespace depthgrid
