#include "sweeps/slurm/task_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "core/base/nan.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_form.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

/// A task should end well before the time limit, and soon enough that the queue can breathe. On an
/// empty cluster each slot gets some tasks, so that all end at about the same time; what comes
/// before and after the training of a task should not count.
constexpr double kPartOfLimit = 0.5, kTaskSeconds = 3600, kLeastSeconds = 300, kTasksOfSlot = 4;

/// Slots for which fused jobs are cut: more would take long to balance.
constexpr std::int64_t kMostPlanned = 1024;

/// What is trained by one task as a whole: its cells, and how long they take (NaN: unknown).
struct Units {
  std::vector<std::vector<std::string>> cells;
  std::vector<double> seconds;
};

/// Ranks of the team of each wanted cell; those of a chain have the widest of them.
std::vector<std::int64_t> ranks_by_row(const Sweep& sweep, const std::vector<bool>& wanted,
                                       const TaskPlanOptions& options) {
  PackingOptions packing = packing_options(sweep.run, options.most_ranks);
  std::vector<std::int64_t> out(wanted.size(), packing.ranks_per_job);
  if (!packing.auto_ranks) return out;
  packing.gpu = task_request(sweep.run, {}).gpus > 0;
  const std::vector<FusedJob> jobs = plan_jobs(sweep.cells, wanted, packing, options.counts);
  for (const auto& chain : chains_of(jobs)) {
    std::int64_t most = 1;
    for (const std::size_t job : chain) most = std::max(most, jobs[job].ranks);
    for (const std::size_t job : chain) {
      for (const std::size_t row : jobs[job].cells) out[row] = most;
    }
  }
  return out;
}

/// Whether the lengths of tasks are to be found from times.
bool divides_by_times(const Sweep& sweep) {
  return sweep.run.is_word("packing.cells_per_launch");
}

bool all_timed(const Sweep& sweep, const std::vector<bool>& wanted, const CostTable& times) {
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    if (wanted[row] && !times.contains(sweep.cells[row].structure)) return false;
  }
  return true;
}

Units units_of(const Sweep& sweep, const std::vector<bool>& wanted, const TaskGroup& group,
               const TaskPlanOptions& options) {
  PackingOptions packing = packing_options(sweep.run, group.request.slots);
  packing.gpu = group.request.gpus > 0;
  const CostTable& costs = group.ranks > 1 && packing.auto_ranks ? options.counts : options.times;
  const std::int64_t idle = idle_slots(group.request, options.partitions);
  const bool spread = group.ranks == 1 && idle > packing.teams && divides_by_times(sweep) &&
                      all_timed(sweep, wanted, options.times);
  if (spread) {  // fused jobs are no larger than lets every slot that idles have some
    packing.auto_ranks = false;
    packing.ranks_per_job = 1;
    packing.teams = std::min(idle, kMostPlanned);
  }
  const std::vector<FusedJob> jobs = plan_jobs(sweep.cells, wanted, packing, costs);
  Units out;
  for (const auto& chain : chains_of(jobs)) {
    std::vector<std::string>& cells = out.cells.emplace_back();
    double& seconds = out.seconds.emplace_back(0);
    for (const std::size_t job : chain) {
      for (const std::size_t row : jobs[job].cells) cells.push_back(sweep.cells[row].id);
      seconds += options.times.contains(jobs[job].structure) ? jobs[job].predicted_seconds : kNaN;
    }
  }
  return out;
}

void divide(const Sweep& sweep, const std::vector<bool>& wanted, const TaskPlanOptions& options,
            TaskGroup& group) {
  auto [cells, seconds] = units_of(sweep, wanted, group, options);
  const std::int64_t at_once = std::max<std::int64_t>(1, group.request.slots / group.ranks);
  if (!divides_by_times(sweep)) {
    const std::int64_t each = sweep.run.integer("packing.cells_per_launch") * at_once;
    std::ranges::fill(seconds, kNaN);
    group.tasks = tasks_of(cells, seconds, 0, each);
    return;
  }
  double length = kTaskSeconds;
  const std::int64_t idle = idle_slots(group.request, options.partitions) / group.ranks;
  if (idle > 0) {
    double total = 0;  // of what is known
    for (const double each : seconds) total += std::isnan(each) ? 0 : each;
    length = std::clamp(total / (static_cast<double>(idle) * kTasksOfSlot), kLeastSeconds, length);
  }
  if (group.request.time_seconds > 0) {
    length = std::min(length, static_cast<double>(group.request.time_seconds) * kPartOfLimit);
  }
  group.tasks = tasks_of(cells, seconds, static_cast<double>(at_once) * length, at_once);
}

/// One cell of each structure that needs no other cell first.
std::vector<std::size_t> canaries(const Sweep& sweep, const std::vector<bool>& wanted) {
  std::set<CellId> sources;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    if (wanted[row]) sources.insert(sweep.cells[row].id);
  }
  std::set<std::string> seen;
  std::vector<std::size_t> out;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellPlan& cell = sweep.cells[row];
    if (!wanted[row] || sources.contains(start_cell(cell.config).value_or(""))) continue;
    if (seen.insert(cell.structure).second) out.push_back(row);
  }
  return out;
}

}  // namespace

std::int64_t idle_slots(const TaskRequest& request, const std::vector<SlurmPartition>& partitions) {
  std::map<std::string, std::int64_t> places;  // for parts of a task on one node, by partition
  for (const SlurmPartition& kind : partitions) {
    std::int64_t on_node = kind.cores / std::max<std::int64_t>(1, request.cores);
    if (request.gpus > 0) on_node = std::min(on_node, kind.gpus / request.gpus);
    if (const auto memory = megabytes_of(request.memory); memory && *memory > 0) {
      const auto fitting = static_cast<std::int64_t>(kind.memory_mb) / *memory;
      on_node = std::min(on_node, fitting);
    }
    places[kind.name] += kind.idle * on_node;
  }
  std::int64_t most = 0;
  for (const auto& [name, count] : places) most = std::max(most, count);
  std::int64_t tasks = most / std::max<std::int64_t>(1, request.nodes);
  if (request.parallel > 0) tasks = std::min(tasks, request.parallel);
  return tasks * request.slots;
}

std::vector<std::vector<std::size_t>> chains_of(const std::vector<FusedJob>& jobs) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < jobs.size(); ++i) index[jobs[i].id] = i;
  std::vector<std::size_t> leader(jobs.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto first_of = [&](std::size_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::string& source : jobs[i].after) {
      const std::size_t a = first_of(i), b = first_of(index.at(source));
      leader[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::vector<std::size_t>> out;
  std::map<std::size_t, std::size_t> place;  // by leader
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [at, fresh] = place.try_emplace(first_of(i), out.size());
    if (fresh) out.emplace_back();
    out[at->second].push_back(i);
  }
  return out;
}

std::vector<TaskGroup> task_groups(const Sweep& sweep, std::vector<bool> wanted,
                                   const TaskPlanOptions& options) {
  const std::vector<std::int64_t> ranks = ranks_by_row(sweep, wanted, options);
  using Rows = std::map<std::int64_t, std::vector<std::size_t>, std::greater<>>;
  Rows first, others;
  if (options.canary) {
    for (const std::size_t row : canaries(sweep, wanted)) {
      first[ranks[row]].push_back(row);
      wanted[row] = false;
    }
  }
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    if (wanted[row]) others[ranks[row]].push_back(row);
  }
  std::vector<TaskGroup> out;
  const auto add = [&](std::int64_t r, bool canary) -> TaskGroup& {
    return out.emplace_back(
        TaskGroup{.ranks = r,
                  .canary = canary,
                  .request = task_request(sweep.run, options.left_out, r, options.seconds),
                  .tasks = {}});
  };
  for (const auto& [r, rows] : first) {
    TaskGroup& group = add(r, true);
    for (const std::size_t row : rows) group.tasks.push_back({sweep.cells[row].id});
  }
  for (const auto& [r, rows] : others) {
    std::vector<bool> ours(wanted.size(), false);
    for (const std::size_t row : rows) ours[row] = true;
    divide(sweep, ours, options, add(r, false));
  }
  return out;
}

}  // namespace depthgrid
