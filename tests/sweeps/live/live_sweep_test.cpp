#include "sweeps/live/live_sweep.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid::live_sweep_test {
namespace {

using Rows = std::vector<std::size_t>;

/// Plays a run of known times: teams take the jobs in order, every event comes a second.
class Simulation {
 public:
  struct Job {
    Rows rows;
    double step_seconds;  // true, of the whole job
    double ending;        // true, after the last step
  };

  Simulation(std::vector<LiveCell> cells, std::vector<Job> jobs, int teams)
      : sweep_("simulated", std::move(cells)), jobs_(std::move(jobs)) {
    std::vector<Rows> plan;
    for (const Job& job : jobs_) plan.push_back(job.rows);
    sweep_.plan(plan, static_cast<std::size_t>(teams));
    place(teams);
  }

  double end() const { return end_; }

  /// The view at this time; times must not decrease.
  LiveView at(double now) {
    for (; clock_ <= now; clock_ += 0.25) advance(clock_);
    return sweep_.view(now);
  }

 private:
  struct Placed {
    Job job;
    int team;
    double begin;
    std::int64_t told = 0;
    bool begun = false, ended = false;
  };

  void place(int teams) {
    std::map<int, double> free;
    for (int t = 0; t < teams; ++t) free[t] = 0;
    for (const Job& job : jobs_) {
      int team = 0;
      for (const auto& [t, time] : free) team = time < free[team] ? t : team;
      placed_.push_back({job, team, free[team]});
      free[team] += job.step_seconds * kSteps + job.ending;
      end_ = std::max(end_, free[team]);
    }
  }

  void advance(double now) {
    for (Placed& p : placed_) {
      if (now < p.begin || p.ended) continue;
      LiveEvent e{.rank = p.team,
                  .job = "job" + std::to_string(p.job.rows.front()),
                  .rows = p.job.rows,
                  .steps = kSteps};
      if (!p.begun) {
        e.kind = LiveKind::JobStart;
        sweep_.apply(e, now);
        p.begun = true;
      }
      const double spent = now - p.begin;
      e.step =
          std::min<std::int64_t>(kSteps, static_cast<std::int64_t>(spent / p.job.step_seconds));
      if (e.step > p.told) {
        e.kind = LiveKind::Step;
        e.seconds = static_cast<double>(e.step) * p.job.step_seconds;
        sweep_.apply(e, now);
        p.told = e.step;
      }
      if (spent < p.job.step_seconds * kSteps + p.job.ending) continue;
      e.kind = LiveKind::JobEnd;
      e.text = "done";
      e.seconds = p.job.step_seconds * kSteps + p.job.ending;
      sweep_.apply(e, now);
      for (const std::size_t row : p.job.rows) sweep_.finish(row);
      p.ended = true;
    }
  }

 public:
  static constexpr std::int64_t kSteps = 100;

 private:
  LiveSweep sweep_;
  std::vector<Job> jobs_;
  std::vector<Placed> placed_;
  double clock_ = 0, end_ = 0;
};

LiveCell cell(const std::string& structure, double training, double ending) {
  static int count = 0;
  return {.alias = "cell" + std::to_string(count++),
          .structure = structure,
          .steps = Simulation::kSteps,
          .predicted = {training, ending, 0}};
}

/// The largest relative error of the remaining time from a tenth of the run to 95 % of it.
double largest_error(Simulation& run) {
  double worst = 0;
  for (int i = 10; i <= 95; ++i) {
    const double now = run.end() * i / 100, left = run.end() - now;
    worst = std::max(worst, std::abs(run.at(now).remaining - left) / left);
  }
  return worst;
}

TEST(LiveSweep, KnowsTheRemainingTimeOfEqualJobs) {
  std::vector<LiveCell> cells(10, cell("a", 1, 0.1));
  std::vector<Simulation::Job> jobs;
  for (std::size_t row = 0; row < 10; ++row) jobs.push_back({{row}, 0.1, 1});
  Simulation run(cells, jobs, 1);
  EXPECT_LT(largest_error(run), 0.05);
}

// Predictions are wrong by a factor of seven for all structures, and a little more between them.
TEST(LiveSweep, KnowsTheRemainingTimeOfUnequalJobsOnSeveralTeams) {
  for (const int teams : {1, 2, 4}) {
    std::vector<LiveCell> cells;
    std::vector<Simulation::Job> jobs;
    for (std::size_t row = 0; row < 24; ++row) {
      const double size = 1.0 + static_cast<double>((24 - row) / 6);  // four structures
      cells.push_back(cell("s" + std::to_string((24 - row) / 6), size, size * 0.1));
      jobs.push_back({{row}, 0.07 * size * (row % 2 == 0 ? 1.05 : 0.95), 0.7 * size});
    }
    Simulation run(cells, jobs, teams);
    EXPECT_LT(largest_error(run), 0.2) << teams << " teams";
  }
}

TEST(LiveSweep, TheBarCountsCellStepsAndNeverGoesBack) {
  LiveSweep sweep("s", {cell("a", 1, 0), cell("a", 1, 0)});
  LiveEvent e{.kind = LiveKind::JobStart, .job = "j", .rows = {0}, .steps = 100};
  EXPECT_TRUE(sweep.apply(e, 0));
  e.kind = LiveKind::Step;
  e.step = 50;
  e.seconds = 5;
  EXPECT_TRUE(sweep.apply(e, 5));
  EXPECT_DOUBLE_EQ(sweep.view(5).fraction, 0.25);
  EXPECT_EQ(sweep.view(5).cells_done, 0);
  EXPECT_DOUBLE_EQ(sweep.view(5).jobs.at(0).rate, 10);
  // The attempt ends, and the next one has lost some of its steps.
  e.kind = LiveKind::JobEnd;
  e.text = "out of memory";
  EXPECT_TRUE(sweep.apply(e, 6));
  e = {.kind = LiveKind::JobStart, .job = "k", .rows = {0}, .first = 20, .step = 20, .steps = 100};
  EXPECT_TRUE(sweep.apply(e, 7));
  EXPECT_DOUBLE_EQ(sweep.view(7).fraction, 0.25);
  sweep.finish(0);
  sweep.finish(0);
  EXPECT_EQ(sweep.view(8).cells_done, 1);
  sweep.fail(1, "out of memory");
  const LiveView end = sweep.view(9);
  EXPECT_DOUBLE_EQ(end.fraction, 1);
  EXPECT_EQ(end.cells_done, 1);
  EXPECT_EQ(end.news.size(), 1U);
  EXPECT_DOUBLE_EQ(end.remaining, 0);
}

TEST(LiveSweep, ADivergedCellHasAResultAndIsNamed) {
  LiveSweep sweep("s", {cell("a", 1, 0), cell("a", 1, 0)});
  const LiveEvent told{.kind = LiveKind::Diverged, .rows = {1}, .text = "diverged at step 7"};
  EXPECT_TRUE(sweep.apply(told, 1));
  EXPECT_TRUE(sweep.apply(told, 2));
  const LiveView view = sweep.view(3);
  EXPECT_EQ(view.cells_done, 1);
  ASSERT_EQ(view.news.size(), 1U);
  EXPECT_EQ(view.news[0].fate, LiveFate::Diverged);
  EXPECT_TRUE(view.news[0].text.ends_with(": diverged at step 7")) << view.news[0].text;
}

TEST(LiveSweep, ACancelledCellHasEndedAndHasNotFailed) {
  LiveSweep sweep("s", {cell("a", 1, 0), cell("a", 1, 0)});
  const LiveEvent told{.kind = LiveKind::Cancelled, .rows = {1}};
  EXPECT_TRUE(sweep.apply(told, 1));
  EXPECT_TRUE(sweep.apply(event_of(event_line(told)).value(), 2));
  const LiveView view = sweep.view(3);
  EXPECT_EQ(view.cells_done, 0);
  EXPECT_DOUBLE_EQ(view.fraction, 0.5);
  ASSERT_EQ(view.news.size(), 1U);
  EXPECT_EQ(view.news[0].fate, LiveFate::Cancelled);
  EXPECT_EQ(sweep.open(), Rows{0});
}

TEST(LiveSweep, ATaskCountsItsOwnCells) {
  LiveCell done = cell("a", 1, 0), others = cell("a", 1, 0);
  done.done = true;
  done.counted = others.counted = false;
  LiveSweep sweep("s", {done, others, cell("a", 1, 0), cell("a", 1, 0)});
  EXPECT_EQ(sweep.cells(), 2);
  EXPECT_EQ(sweep.done(), 0);
  EXPECT_EQ(sweep.open(), (Rows{2, 3}));
  sweep.finish(1);
  EXPECT_DOUBLE_EQ(sweep.view(1).fraction, 0) << "another task has finished its cell";
  sweep.finish(2);
  EXPECT_DOUBLE_EQ(sweep.view(2).fraction, 0.5);
  sweep.finish(3);
  const LiveView end = sweep.view(3);
  EXPECT_EQ(end.cells_done, 2);
  EXPECT_EQ(end.cells, 2);
  EXPECT_DOUBLE_EQ(end.fraction, 1);
  EXPECT_DOUBLE_EQ(end.remaining, 0);
}

TEST(LiveSweep, DropsNewsOfAJobThatHasEnded) {
  LiveSweep sweep("s", {cell("a", 1, 0)});
  EXPECT_FALSE(sweep.apply({.kind = LiveKind::Step, .job = "j", .step = 3, .steps = 9}, 0));
  EXPECT_TRUE(sweep.view(0).jobs.empty());
}

TEST(LiveSweep, AJobOfWhoHasLeftRunsNoLonger) {
  LiveSweep sweep("s", {cell("a", 1, 0)});
  sweep.plan({{0}}, 1);
  LiveEvent e{.kind = LiveKind::JobStart, .rank = 3, .job = "j", .rows = {0}};
  e.steps = Simulation::kSteps;
  sweep.apply(e, 0);
  e.kind = LiveKind::Step;
  e.step = e.steps / 2;
  e.seconds = 10;
  sweep.apply(e, 10);
  const double before = sweep.view(10).remaining;
  sweep.leave(3);
  sweep.leave(3);
  const LiveView view = sweep.view(100);
  EXPECT_TRUE(view.jobs.empty());
  EXPECT_DOUBLE_EQ(view.remaining, before) << "what it has made tells the speed";
  EXPECT_FALSE(sweep.apply(e, 101));
}

TEST(LiveSweep, CountsCellsWhereThereAreNoSteps) {
  LiveCell none = cell("a", 0, 0);
  none.steps = 0;
  LiveSweep sweep("s", {none, none});
  EXPECT_DOUBLE_EQ(sweep.view(0).fraction, 0);
  sweep.finish(0);
  EXPECT_DOUBLE_EQ(sweep.view(1).fraction, 0.5);
}

}  // namespace
}  // namespace depthgrid::live_sweep_test
