// The supervisor starts launches in the order in which the simulation (ReadyJobs) would, whatever
// the plan: `plan --simulate` predicts the run that will be.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/plan/ready_jobs.hpp"
#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace supervisor_order_test {

struct Plan {
  std::vector<FusedJob> jobs;
  std::vector<LaunchPlan> launches;  // one for each job
  std::vector<double> seconds;
};

Plan random_plan(std::mt19937& dice, std::int64_t slots) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::size_t>(std::uniform_int_distribution<std::int64_t>(0, n - 1)(dice));
  };
  Plan out;
  const std::size_t n = 3 + below(20);
  for (std::size_t i = 0; i < n; ++i) {
    FusedJob job;
    job.id = "job" + std::to_string(i);
    job.cells = {i};
    job.ranks = 1 + static_cast<std::int64_t>(below(slots));
    LaunchPlan launch{.id = job.id, .rows = {i}, .cells = {job.id}, .ranks = job.ranks};
    launch.jobs = {1};
    if (i > 0 && below(3) == 0) {
      const std::size_t source = below(static_cast<std::int64_t>(i));
      job.after = {out.jobs[source].id};
      launch.after = {source};
    }
    out.jobs.push_back(job);
    out.launches.push_back(launch);
    out.seconds.push_back(1 + static_cast<double>(below(40)) / 4);
  }
  return out;
}

/// Follows what the supervisor did, and asks ReadyJobs at each start what it would have done.
void expect_the_same_order(const Plan& plan, std::int64_t slots,
                           const std::vector<PretendedBackend::Event>& events) {
  ReadyJobs ready(plan.jobs);
  std::int64_t free = slots;
  const auto index = [&](const std::string& id) {
    const auto at = std::ranges::find(plan.jobs, id, &FusedJob::id);
    return static_cast<std::size_t>(at - plan.jobs.begin());
  };
  for (const PretendedBackend::Event& event : events) {
    switch (event.kind) {
      case PretendedBackend::Event::Kind::Start: {
        const auto would = ready.take(free);
        ASSERT_TRUE(would) << event.id << " starts, and nothing is ready";
        ASSERT_EQ(plan.jobs[*would].id, event.id);
        free -= plan.jobs[*would].ranks;
        break;
      }
      case PretendedBackend::Event::Kind::End:
        free += plan.jobs[index(event.id)].ranks;
        ready.done(index(event.id));
        break;
      case PretendedBackend::Event::Kind::Wait: {
        const auto idle = ready.take(free);
        ASSERT_FALSE(idle) << plan.jobs[*idle].id << " could have started";
        break;
      }
    }
  }
  EXPECT_TRUE(ready.all_done());
}

TEST(SupervisorOrder, IsThatOfTheSimulation) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 dice(seed);
    const std::int64_t slots = 1 + static_cast<std::int64_t>(seed % 6);
    const Plan plan = random_plan(dice, slots);
    SupervisorOptions options;
    options.slots = slots;
    PretendedBackend backend(plan.launches, options);
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      backend.plays(plan.jobs[i].id, {{.seconds = plan.seconds[i], .code = 0}});
    }
    ASSERT_EQ(backend.run(), ExitCode::Done) << backend.log;
    expect_the_same_order(plan, slots, backend.events);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace supervisor_order_test
}  // namespace depthgrid::testing
