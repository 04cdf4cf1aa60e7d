#include "sweeps/run/task_end.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/processes.hpp"
#include "core/base/text_parts.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/queue/remaining_cells.hpp"
#include "sweeps/run/launch_capacity.hpp"
#include "sweeps/slurm/missing_cells.hpp"
#include "sweeps/slurm/node_check.hpp"
#include "sweeps/slurm/node_exclusion.hpp"
#include "sweeps/slurm/prepared_submission.hpp"
#include "sweeps/slurm/sbatch_options.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kIdleRequeues = 2;
constexpr double kBetweenTries = 0.3, kUntilSlurmActs = 30;  // s
constexpr int kSlurmTries = 5;                               // Slurm's signals may end scontrol

/// How far the cells were when a task last went back, and how often that had not changed.
struct Progress {
  std::int64_t measure = -1, idle = 0;
};

/// @param cut_short  it was stopped long before its time was up, which says nothing of that.
Progress progress_now(const Store& store, const std::vector<std::string>& cells,
                      const fs::path& memory, bool cut_short) {
  const std::int64_t measure = progress_measure(store, cells);
  Progress before;
  std::istringstream(loose_text(memory, 0, store.fs())) >> before.measure >> before.idle;
  return {measure, measure > before.measure ? 0 : before.idle + (cut_short ? 0 : 1)};
}

void keep_progress(const fs::path& memory, const Progress& progress, const Fs& disk) {
  publish_replace(memory, fmt::format("{} {}\n", progress.measure, progress.idle), disk);
}

fs::path memory_of(const fs::path& submission, const std::string& task) {
  return submission / ("requeued-" + task);
}

std::string last_line_of(const std::string& words) {
  std::string last;
  for (std::string& line : text_lines(words)) {
    if (!line.empty()) last = std::move(line);
  }
  return last;
}

/// The words for sbatch with which the task was submitted.
std::vector<std::string> words_of(const fs::path& store, const fs::path& task_file) {
  auto submission = submission_of(store, task_file.parent_path().filename().string());
  return submission ? std::move(submission->words) : std::vector<std::string>{};
}

/// Nodes that the task leaves out from now on: the user's, those at fault, and `bad`.
std::vector<std::string> left_out(const TaskReturn& task, const std::set<std::string>& bad,
                                  const Scheduler& slurm) {
  std::set<std::string> each = bad;
  for (const std::string& node : task.sweep.run.words("slurm.exclude")) each.insert(node);
  for (const std::string& node : excluded_nodes(slurm, task.store.root())) each.insert(node);
  return {each.begin(), each.end()};
}

/// @return what Slurm objects to, in the last of a few tries; empty if it keeps the task away.
std::string keep_away(const Scheduler& slurm, const std::string& task,
                      const std::vector<std::string>& nodes) {
  std::string problem;
  for (int i = 0; i < kSlurmTries; ++i) {
    problem = slurm.leave_out(task, nodes);
    if (problem.empty()) break;
    real_clock().wait(kBetweenTries);
  }
  return problem;
}

/// The task's cells as an array of their own, with the options that were given to sbatch before.
void submit_anew(const TaskReturn& task, const std::vector<std::string>& bad,
                 const Progress& progress, const Scheduler& slurm) {
  const fs::path folder = task.task_file.parent_path();
  const auto before = submission_of(task.store.root(), folder.filename().string());
  std::int64_t ranks = 0;
  bool canary = false;
  for (const SubmittedArray& array : before.value_or(Submission{}).arrays) {
    for (std::int64_t line = array.first; line < array.first + array.tasks; ++line) {
      if (before->tasks.at(static_cast<std::size_t>(line)) != task.cells) continue;
      ranks = array.ranks;
      canary = array.canary;
    }
  }
  const SbatchRequest sbatch{.run = task.sweep.run,
                             .words = before ? before->words : std::vector<std::string>{}};
  TaskGroup group{.ranks = std::max<std::int64_t>(1, ranks),
                  .canary = false,
                  .request = task_request(task.sweep.run, bad, ranks, sbatch.time_seconds()),
                  .tasks = {task.cells}};
  PreparedSubmission anew =
      prepare_submission(task.sweep, task.store.root(), {group}, 1, sbatch.words);
  anew.arrays.front().dependency.clear();  // it was met when this task began
  submit_prepared(anew, task.store, slurm);
  task.events.add(submitted_event(anew.submission));
  const std::string job = anew.submission.arrays.front().job;
  keep_progress(memory_of(submission_folder(task.store.root(), anew.submission.id), job + "_0"),
                progress, task.store.fs());
  log(LogLevel::Info, "submitted anew as array " + job);
  if (!canary) return;
  log(LogLevel::Warning, "this was a canary, and Slurm removes what waits for it: when array " +
                             job +
                             " has succeeded, type depthgrid submit again, which takes the rest");
}

}  // namespace

std::vector<NodeFault> faults_of_task(const Store& store, const std::vector<std::string>& cells,
                                      const std::string& task, std::int64_t restart) {
  std::set<std::string> left;
  for (const std::string& id : cells) {
    if (need_of(store, id) == CellNeed::Wanted) left.insert(id);
  }
  std::map<std::string, NodeFault> out;
  for (const LaunchRecord& record : launch_records(store.root(), store.fs())) {
    if (record.slurm_job != task || record.restart != restart) continue;
    if (record.end != LaunchEnd::Infrastructure && record.cause.empty()) continue;
    const bool ours =
        std::ranges::any_of(record.cells, [&](const std::string& id) { return left.contains(id); });
    const std::string node = record.cause.empty() ? std::string() : record.host;
    if (!ours || out.contains(node)) continue;
    out[node] = {.node = node,
                 .cause = record.cause,
                 .why = record.last_words.empty() ? end_text(record.end, record.code)
                                                  : last_line_of(record.last_words),
                 .task = task,
                 .launch = record.id};
  }
  std::vector<NodeFault> faults;
  for (auto& [node, fault] : out) faults.push_back(std::move(fault));
  return faults;
}

std::string leave_out_nodes(const Sweep& sweep, const Store& store, EventLog& events,
                            const std::filesystem::path& task_file,
                            const std::vector<NodeFault>& faults, const Scheduler& scheduler) {
  std::vector<std::string> fresh;  // nodes of which these are the first faults
  for (const NodeFault& fault : faults) {
    if (record_node_fault(store.root(), fault, real_clock(), store.fs()) != 1) continue;
    events.add({.kind = SweepEventKind::NodeLeftOut,
                .node = fault.node,
                .message = fault.cause + ": " + fault.why});
    fresh.push_back(fault.node);
  }
  const std::vector<NodeFault> here = faults_here(scheduler, store.root());
  const std::string problem = fresh.empty() ? "" : keep_waiting_away(scheduler, store.root(), here);
  if (!problem.empty()) {
    log(LogLevel::Warning, fmt::format("what waits could not be kept away from node {}: {}",
                                       fmt::join(fresh, ", "), problem));
  }
  if (here.empty()) return {};
  const SbatchRequest sbatch{.run = sweep.run, .words = words_of(store.root(), task_file)};
  return sweep_fault_on(
      here, partitions_named(scheduler.partitions(), sbatch.value(kPartitionOption).text),
      store.root().string());
}

bool found_node_fault(const Store& store, const std::vector<std::string>& cells, EventLog& events) {
  const char* const cards = std::getenv("SLURM_GPUS_ON_NODE");
  const auto fault = node_fault(real_commands(), cards == nullptr ? 0 : std::atoll(cards));
  if (!fault) return false;
  const std::string task = this_task();
  log(LogLevel::Error, fmt::format("node {} is at fault: {}", node_name(), *fault));
  LaunchRecord record{.id = "node-check-" + task,
                      .attempt = 1,
                      .cells = cells,
                      .host = node_name(),
                      .slurm_job = task,
                      .restart = restart_of_task(),
                      .launcher = "direct",
                      .ranks = 1,
                      .end = LaunchEnd::Infrastructure,
                      .code = static_cast<int>(ExitCode::Failed),
                      .cause = "check",
                      .seconds = 0,
                      .log = "",
                      .last_words = *fault};
  const std::filesystem::path folder = launch_folder(store.root(), record.id);
  make_folders(folder, store.fs());
  record.attempt = next_attempt(folder, store.fs());
  events.add(end_event(record));
  keep_record(store.root(), record, store.fs());
  return true;
}

void return_task(const TaskReturn& task) {
  const std::string name = this_task();
  if (name.empty()) return log(LogLevel::Warning, "--requeue: this is no task of Slurm");
  const bool stopped = task.code == static_cast<int>(ExitCode::TempFail);
  std::vector<NodeFault> faults;
  // Without a signal, a supervisor has stopped since its cards are gone, or little time is left.
  if (!stopped || task.signal == 0) {
    faults = faults_of_task(task.store, task.cells, name, restart_of_task());
  }
  if (!stopped && faults.empty()) return;
  const SlurmClient slurm;
  const auto stays_out = [&](const std::string& why) {
    task.events.add(
        {.kind = SweepEventKind::TaskNotRequeued, .restart = restart_of_task(), .message = why});
  };
  if (!faults.empty()) {
    const std::string over =
        leave_out_nodes(task.sweep, task.store, task.events, task.task_file, faults, slurm);
    if (!over.empty()) {
      stays_out(over);
      return log(LogLevel::Error, over);
    }
  }
  const bool time_is_up = task.signal == SIGUSR1 || task.signal == SIGUSR2;
  if (!time_is_up && slurm.ending(name)) {
    stays_out("Slurm has ended it");
    return log(LogLevel::Info, "Slurm has ended task " + name + ": it does not ask to go back");
  }
  const fs::path memory = memory_of(task.task_file.parent_path(), name);
  const bool cut_short = faults.empty() && allocated_seconds() > task.ran;
  const Progress progress = progress_now(task.store, task.cells, memory, cut_short);
  keep_progress(memory, progress, task.store.fs());
  if (progress.idle >= kIdleRequeues) {
    stays_out(fmt::format("it was stopped {} times without getting on", progress.idle + 1));
    return log(
        LogLevel::Error,
        fmt::format(
            "task {} was stopped {} times without getting on, so it does not go back "
            "into the queue; {} may help",
            name, progress.idle + 1,
            !faults.empty() ? "another partition, or slurm.exclude," : "a longer resources.time"));
  }
  std::set<std::string> bad;
  for (const NodeFault& fault : faults) {
    if (!fault.node.empty()) bad.insert(fault.node);  // one of several: it goes back, to any
  }
  const std::vector<std::string> without = left_out(task, bad, slurm);
  const std::string nodes = fmt::format("{}", fmt::join(bad, ", "));
  // The TERM that Slurm sends as soon as the task is in the queue again waits in task.signals.
  const std::string refused = slurm.requeue(name);
  if (!refused.empty()) {
    stays_out("scontrol requeue: " + refused);
    log(LogLevel::Warning, "scontrol requeue " + name + ": " + refused);
    return submit_anew(task, without, progress, slurm);
  }
  task.events.add({.kind = SweepEventKind::TaskRequeued,
                   .restart = restart_of_task(),
                   .message = bad.empty() ? "" : "not to " + nodes});
  if (!bad.empty()) {
    const std::string problem = keep_away(slurm, name, without);
    if (problem.empty()) {
      log(LogLevel::Warning,
          fmt::format("task {} goes back into the queue, and not to {}", name, nodes));
    } else {
      log(LogLevel::Error,
          fmt::format("scontrol could not keep task {} from {}: {}", name, nodes, problem));
    }
  }
  task.signals.wait(kUntilSlurmActs);  // Slurm ends this process meanwhile
}

}  // namespace depthgrid
