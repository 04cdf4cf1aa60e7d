#include "sweeps/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"

namespace depthgrid {
namespace simulate_test {

std::vector<FusedJob> jobs_of(const std::vector<double>& seconds, std::int64_t ranks = 1) {
  std::vector<FusedJob> out;
  for (const double s : seconds) {
    FusedJob& job = out.emplace_back();
    job.id = "j" + std::to_string(out.size() - 1);
    job.predicted_seconds = s;
    job.ranks = ranks;
  }
  return out;
}

/// Without any overhead.
ClusterModel cluster(std::int64_t nodes, std::int64_t devices) {
  ClusterModel out;
  out.nodes = nodes;
  out.devices_per_node = devices;
  out.launch_seconds = 0;
  out.requeue_seconds = 0;
  return out;
}

/// Least makespan of any assignment to `machines`: every one is tried.
double optimum(const std::vector<double>& seconds, std::vector<double>& loads, std::size_t next) {
  if (next == seconds.size()) return *std::ranges::max_element(loads);
  double best = std::numeric_limits<double>::infinity();
  for (double& load : loads) {
    load += seconds[next];
    best = std::min(best, optimum(seconds, loads, next + 1));
    load -= seconds[next];
  }
  return best;
}

TEST(Simulate, EqualJobsComeInRounds) {
  const std::vector<FusedJob> jobs = jobs_of(std::vector<double>(10, 5));
  const SimulatedRun run = simulate(jobs, cluster(2, 2), 0);
  EXPECT_DOUBLE_EQ(run.makespan, 15);  // 4 + 4 + 2
  EXPECT_DOUBLE_EQ(run.allocated, 60);
  EXPECT_DOUBLE_EQ(run.busy, 50);
  EXPECT_DOUBLE_EQ(run.lost, 0);
  EXPECT_EQ(run.restarts, 0);
  ClusterModel slow = cluster(2, 2);
  slow.launch_seconds = 1;
  EXPECT_DOUBLE_EQ(simulate(jobs, slow, 0).makespan, 18);
}

TEST(Simulate, WithoutInterruptionsTheMakespanIsThePlanners) {
  std::mt19937 draw(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> seconds(1 + draw() % 40);
    for (double& s : seconds) s = 1 + draw() % 100;
    std::vector<FusedJob> jobs = jobs_of(seconds);
    for (std::size_t j = 1; j < jobs.size(); ++j) {
      if (draw() % 4 == 0) jobs[j].after = {jobs[draw() % j].id};
    }
    const auto nodes = static_cast<std::int64_t>(1 + draw() % 4);
    const auto devices = static_cast<std::int64_t>(1 + draw() % 4);
    EXPECT_DOUBLE_EQ(simulate(jobs, cluster(nodes, devices), 0).makespan,
                     predicted_makespan(jobs, nodes * devices));
  }
}

TEST(Simulate, GrahamsBoundsHold) {
  std::mt19937 draw(5);
  double worst = 1;
  for (int trial = 0; trial < 150; ++trial) {
    std::vector<double> seconds(2 + draw() % 7);
    for (double& s : seconds) s = 1 + draw() % 20;
    const std::int64_t m = 2 + static_cast<std::int64_t>(draw() % 2);
    std::vector<double> loads(static_cast<std::size_t>(m), 0);
    const double best = optimum(seconds, loads, 0);
    const auto machines = static_cast<double>(m);
    const double any = simulate(jobs_of(seconds), cluster(m, 1), 0).makespan;
    EXPECT_LE(any, (2 - 1 / machines) * best + 1e-9);
    std::ranges::sort(seconds, std::greater<>());
    const double longest_first = simulate(jobs_of(seconds), cluster(m, 1), 0).makespan;
    EXPECT_GE(longest_first, best - 1e-9);
    EXPECT_LE(longest_first, (4.0 / 3 - 1 / (3 * machines)) * best + 1e-9);
    worst = std::max(worst, longest_first / best);
  }
  EXPECT_GT(worst, 1);  // else the bounds were not tried
}

TEST(Simulate, GrahamsWorstCaseIsReached) {
  // m = 2: 3 3 2 2 2 longest first ends at 7, the optimum at 6: 7/6 = 4/3 - 1/6.
  EXPECT_DOUBLE_EQ(simulate(jobs_of({3, 3, 2, 2, 2}), cluster(2, 1), 0).makespan, 7);
  EXPECT_DOUBLE_EQ(simulate(jobs_of({1, 1, 2}), cluster(2, 1), 0).makespan, 3);  // 3/2 = 2 - 1/2
}

TEST(Simulate, TheLossesOfPreemptionsAreThoseOfTheClosedForm) {
  // Work W in pieces of c between checkpoints, preemptions at rate r. A piece needs (e^rc - 1) / r
  // of computing on average, of which c counts, and is interrupted e^rc - 1 times.
  ClusterModel model = cluster(1, 1);
  model.checkpoint_seconds = 100;
  model.preemptions_per_hour = 36;  // r = 1/100 s
  model.requeue_seconds = 50;
  const double work = 1000, rc = 1;
  const double interruptions = work / 100 * (std::exp(rc) - 1);
  const double lost = work / 100 * ((std::exp(rc) - 1) * 100 - 100);
  const std::vector<FusedJob> jobs = jobs_of({work});
  const int n = 4000;
  double restarts = 0, wasted = 0, time = 0;
  for (int i = 0; i < n; ++i) {
    const SimulatedRun run = simulate(jobs, model, static_cast<std::uint64_t>(i));
    restarts += static_cast<double>(run.restarts) / n;
    wasted += run.lost / n;
    time += run.makespan / n;
    EXPECT_NEAR(run.busy, work + run.lost, 1e-6);
    EXPECT_NEAR(run.makespan, run.allocated + 50 * static_cast<double>(run.restarts), 1e-6);
  }
  // Standard errors: sqrt(10 (e^2 - e) / 4000) = 0.11 restarts.
  EXPECT_NEAR(restarts, interruptions, 0.45);
  EXPECT_NEAR(wasted, lost, 0.05 * lost);
  EXPECT_NEAR(time, work + lost + 50 * interruptions, 0.05 * (work + lost));
}

TEST(Simulate, ATimeLimitIsAnnouncedAndLosesNoWork) {
  ClusterModel model = cluster(1, 2);
  model.time_limit = 100;
  model.requeue_seconds = 10;
  model.launch_seconds = 1;
  const SimulatedRun run = simulate(jobs_of({250, 50}), model, 0);
  // 99 + 99 + 52: two limits, two waits, three starts.
  EXPECT_DOUBLE_EQ(run.makespan, 100 + 10 + 100 + 10 + 53);
  EXPECT_DOUBLE_EQ(run.lost, 0);
  EXPECT_EQ(run.restarts, 2);
  EXPECT_DOUBLE_EQ(run.busy, 300 + 4);
}

TEST(Simulate, TeamsTakeDevicesOfOneNodeOrWholeNodes) {
  // Three teams of 3 on nodes of 4: one each, whatever is left over.
  EXPECT_DOUBLE_EQ(simulate(jobs_of({10, 10, 10}, 3), cluster(2, 4), 0).makespan, 20);
  // A team of 8 needs both nodes; one of 5 too.
  EXPECT_DOUBLE_EQ(simulate(jobs_of({10, 10}, 8), cluster(2, 4), 0).makespan, 20);
  EXPECT_DOUBLE_EQ(simulate(jobs_of({10, 10}, 5), cluster(2, 4), 0).makespan, 20);
  std::vector<FusedJob> mixed = jobs_of({10, 10, 4, 4});
  mixed[0].ranks = 4;
  mixed[1].ranks = 4;
  EXPECT_DOUBLE_EQ(simulate(mixed, cluster(2, 4), 0).makespan, 14);
  EXPECT_DOUBLE_EQ(simulate(mixed, cluster(3, 4), 0).makespan, 10);
}

TEST(Simulate, EqualSeedsGiveEqualRuns) {
  ClusterModel model = cluster(4, 2);
  model.preemptions_per_hour = 20;
  const std::vector<FusedJob> jobs = jobs_of(std::vector<double>(50, 120));
  const SimulatedRun a = simulate(jobs, model, 7);
  EXPECT_EQ(a.makespan, simulate(jobs, model, 7).makespan);
  EXPECT_NE(a.makespan, simulate(jobs, model, 8).makespan);
  EXPECT_GT(a.restarts, 0);
}

TEST(Simulate, WhatCannotEndIsRefused) {
  EXPECT_THROW(simulate(jobs_of({1}, 9), cluster(2, 4), 0), UserError);
  EXPECT_THROW(simulate(jobs_of({kNaN}), cluster(1, 1), 0), UserError);
  ClusterModel model = cluster(1, 1);
  model.time_limit = 1;
  model.launch_seconds = 2;
  EXPECT_THROW(simulate(jobs_of({5}), model, 0), UserError);
  EXPECT_DOUBLE_EQ(simulate({}, cluster(1, 1), 0).makespan, 0);
}

}  // namespace simulate_test
}  // namespace depthgrid
