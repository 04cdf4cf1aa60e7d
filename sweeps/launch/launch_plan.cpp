#include "sweeps/launch/launch_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sweeps/live/live_cells.hpp"
#include "sweeps/plan/kept_tokens.hpp"

namespace depthgrid {
namespace {

/// Starting a process, its corpora and its models takes about a second of it.
constexpr double kWorthALaunch = 60;
constexpr std::int64_t kLaunchesPerSlot = 4;

/// Whether another job fits into a launch.
class Filling {
 public:
  Filling(std::size_t jobs, std::int64_t slots, std::optional<std::int64_t> per_launch)
      : most_(per_launch ? static_cast<std::size_t>(*per_launch)
                         : std::max<std::size_t>(
                               1, jobs / static_cast<std::size_t>(kLaunchesPerSlot * slots))),
        by_time_(!per_launch) {}

  bool takes(const LaunchPlan& launch, std::size_t held, const FusedJob& job) const {
    if (held >= most_) return false;
    if (job.ranks != launch.ranks || !job.after.empty()) return false;
    // Unknown times: one job a launch.
    return !by_time_ || launch.seconds + job.predicted_seconds <= kWorthALaunch;
  }

 private:
  std::size_t most_;
  bool by_time_;
};

/// Launches of so many cells each, in order; each is one job.
std::vector<LaunchPlan> cut(const LaunchPlan& launch, const std::vector<std::size_t>& sizes) {
  std::vector<LaunchPlan> out;
  auto row = launch.rows.begin();
  auto cell = launch.cells.begin();
  for (const std::size_t size : sizes) {
    const auto n = static_cast<std::ptrdiff_t>(size);
    LaunchPlan& part = out.emplace_back(launch);
    part.rows.assign(row, row + n);
    part.cells.assign(cell, cell + n);
    part.jobs = {size};
    part.bytes *= static_cast<double>(size) / static_cast<double>(launch.rows.size());
    part.seconds *= static_cast<double>(size) / static_cast<double>(launch.rows.size());
    part.id = job_id(part.cells);
    std::advance(row, n);
    std::advance(cell, n);
  }
  return out;
}

}  // namespace

std::vector<LaunchPlan> plan_launches(const std::vector<FusedJob>& jobs,
                                      const std::vector<CellPlan>& cells, std::int64_t slots,
                                      std::optional<std::int64_t> per_launch) {
  const Filling filling(jobs.size(), std::max<std::int64_t>(slots, 1), per_launch);
  std::vector<LaunchPlan> out;
  std::map<std::string, std::size_t> launch_of;  // by job
  std::size_t held = 0;
  for (const FusedJob& job : jobs) {
    // A launch that waits for others, or for which others wait, stays alone.
    const bool joins = !out.empty() && out.back().after.empty() && job.depth == 0 &&
                       filling.takes(out.back(), held, job);
    if (!joins) {
      out.push_back({.id = {}, .rows = {}, .cells = {}, .ranks = job.ranks});
      held = 0;
    }
    LaunchPlan& launch = out.back();
    ++held;
    launch.seconds += job.predicted_seconds;
    launch.bytes = std::max(launch.bytes, static_cast<double>(job.ranks) * job.predicted_bytes);
    if (std::isnan(job.predicted_bytes)) launch.bytes = job.predicted_bytes;
    for (const std::size_t row : job.cells) {
      launch.rows.push_back(row);
      launch.cells.push_back(cells[row].id);
    }
    launch.jobs.push_back(job.cells.size());
    launch_of[job.id] = out.size() - 1;
    for (const std::string& source : job.after) {
      const auto at = launch_of.find(source);
      if (at != launch_of.end() && at->second != out.size() - 1) launch.after.push_back(at->second);
    }
  }
  for (LaunchPlan& launch : out) launch.id = job_id(launch.cells);
  return out;
}

std::vector<LaunchPlan> parts_of(const LaunchPlan& launch) {
  if (launch.rows.size() < 2) return {};
  if (launch.jobs.size() > 1) return cut(launch, launch.jobs);
  return cut(launch, std::vector<std::size_t>(launch.rows.size(), 1));
}

std::vector<LaunchPlan> smaller_parts_of(const LaunchPlan& launch) {
  if (launch.rows.size() < 2 || launch.jobs.size() > 1) return parts_of(launch);
  const std::size_t half = launch.rows.size() / 2;
  return cut(launch, {half, launch.rows.size() - half});
}

LiveSweep launched_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                         const std::vector<LaunchPlan>& launches, std::int64_t slots,
                         const std::vector<std::string>& named) {
  std::vector<std::int64_t> ranks(sweep.cells.size(), 1);
  std::vector<std::vector<std::size_t>> jobs;
  for (const LaunchPlan& launch : launches) {
    auto row = launch.rows.begin();
    for (const std::size_t size : launch.jobs) {
      const auto end = row + static_cast<std::ptrdiff_t>(size);
      jobs.emplace_back(row, end);
      row = end;
    }
    for (const std::size_t each : launch.rows) ranks[each] = launch.ranks;
  }
  KeptTokens kept(store);
  std::vector<LiveCell> cells =
      live_cells(sweep, store, costs, [&](std::size_t row) { return ranks[row]; }, std::ref(kept));
  const std::set<std::string> ours(named.begin(), named.end());
  for (std::size_t row = 0; row < cells.size(); ++row) {
    cells[row].width = static_cast<std::size_t>(ranks[row]);
    cells[row].counted = ours.empty() || ours.contains(sweep.cells[row].id);
  }
  LiveSweep out(sweep.name, std::move(cells));
  out.plan(std::move(jobs), static_cast<std::size_t>(slots));
  return out;
}

}  // namespace depthgrid
