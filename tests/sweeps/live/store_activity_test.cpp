#include "sweeps/live/store_activity.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/live/live_cells.hpp"
#include "sweeps/live/progress_channel.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace store_activity_test {

/// Four cells, of which two runs train one each; the third one is longer than the others.
class RunsOfAStore : public ::testing::Test {
 protected:
  RunsOfAStore() {
    const Sweep longer = synthetic_sweep({3e-3}, 1, {{"train.steps", 5000}});
    sweep_.cells.insert(sweep_.cells.begin() + 2, longer.cells.front());
    publish_plan(store_, sweep_);
  }

  std::vector<LiveEvent> job(int rank, std::size_t row, double seconds) const {
    LiveEvent start{.kind = LiveKind::JobStart,
                    .rank = rank,
                    .job = job_id({sweep_.cells[row].id}),
                    .rows = {row},
                    .text = "a",
                    .steps = 1000};
    LiveEvent step = start;
    step.kind = LiveKind::Step;
    step.step = 400;
    step.seconds = seconds;
    return {start, step};
  }
  void report(const std::string& run, const std::vector<LiveEvent>& events) const {
    const ProgressChannel channel(store_.live_dir() / run);
    channel.append({events.front()});
    channel.replace(events.back());
  }
  SweepNumbers numbers() const {
    return numbers_now(list_store(store_, "st"), &store_, DescribeCache("", ""));
  }

  const TemporaryFolder folder_;
  const Store store_ = Store::open_or_create(folder_.path() / "store");
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3, 4e-3}, 1, {{"train.steps", 1000}});
};

TEST_F(RunsOfAStore, StatusShowsTheRemainingTimeOfADisplay) {
  EXPECT_TRUE(std::isnan(numbers().eta()));
  // Each run has a rank 0: they are told apart.
  report("one", job(0, 0, 40));
  report("two", job(0, 1, 60));
  LiveSweep display(sweep_.name, live_cells(
                                     sweep_, store_, {}, [](std::size_t) { return 1; },
                                     [](const CellConfig&, const std::string&) { return 0; }));
  display.plan({{0}, {1}, {2}, {3}}, 2);
  for (const LiveEvent& event : job(0, 0, 40)) display.apply(event, 0);
  for (const LiveEvent& event : job(1, 1, 60)) display.apply(event, 0);
  const double shown = display.view(0).remaining;
  EXPECT_GT(shown, 60 + 5 * 100) << "the long cell begins where the first one ends";
  EXPECT_NEAR(numbers().eta(), shown, 1e-6);
  EXPECT_EQ(store_activity(store_).ranks, 2);
}

TEST_F(RunsOfAStore, OfARunOfAnotherPlanTheRateIsAllThatIsKnown) {
  auto events = job(0, 0, 40);
  for (LiveEvent& event : events) event.rows = {1};
  report("one", events);
  EXPECT_TRUE(std::isnan(numbers().remaining));
  EXPECT_EQ(store_activity(store_).jobs, 1);
}

}  // namespace store_activity_test
}  // namespace depthgrid
