#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/printable.hpp"
#include "core/base/scratch_folder.hpp"
#include "core/config/text_form.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/run/budget_check.hpp"
#include "sweeps/slurm/missing_cells.hpp"
#include "sweeps/slurm/node_exclusion.hpp"
#include "sweeps/slurm/prepared_submission.hpp"
#include "sweeps/slurm/sbatch_options.hpp"
#include "sweeps/slurm/slurm_client.hpp"
#include "sweeps/slurm/submission_lock.hpp"
#include "sweeps/slurm/submit_report.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// What is missing, by the store, Slurm's queue and the heartbeats of runs.
MissingCells find_missing(const Sweep& sweep, const Store& store,
                          const std::vector<LiveTask>& live) {
  std::set<CellId> queued;
  for (const LiveTask& task : live) queued.insert(task.cells.begin(), task.cells.end());
  std::vector<CellId> open;
  for (const CellPlan& cell : sweep.cells) {
    if (!queued.contains(cell.id) && !store.completed(cell.id)) open.push_back(cell.id);
  }
  const std::chrono::seconds ttl(sweep.run.integer("resources.lease"));
  return missing_cells(sweep, store, queued, cells_at_work(store, open, ttl));
}

/// Refuses a time above the partition's limit. A quality of service may lift it.
void check_time(const SbatchRequest& sbatch, const std::vector<SlurmPartition>& partitions) {
  const auto [time, from] = sbatch.value(kTimeOption);
  const std::string problem =
      time_problem(partitions, sbatch.value(kPartitionOption).text, time, from);
  if (problem.empty()) return;
  if (sbatch.value(kQosOption).text.empty()) {
    throw UserError(ExitCode::BadConfig, "submit: " + problem);
  }
  log(LogLevel::Warning, "submit: " + problem + "; or your quality of service lifts the limit");
}

/// Nodes that the tasks leave out for their faults, each of which is said.
/// @throws UserError (Infrastructure) if there are so many that the fault is another's, unless
/// `previews`.
std::vector<std::string> nodes_left_out(const std::vector<NodeFault>& faults,
                                        const std::vector<SlurmPartition>& partitions,
                                        const fs::path& store, bool previews) {
  const std::string fault = sweep_fault_on(faults, partitions, store.string());
  if (!fault.empty() && !previews) throw UserError(ExitCode::Infrastructure, "submit: " + fault);
  if (!fault.empty()) log(LogLevel::Warning, "submit: " + fault);
  std::vector<std::string> out;
  for (const NodeFault& bad : faults) {
    log(LogLevel::Info, fmt::format("submit: node {} is left out ({}); depthgrid retry --node {} "
                                    "{} readmits it",
                                    bad.node, bad.cause, bad.node, shell_word(store.string())));
    out.push_back(bad.node);
  }
  return out;
}

TaskPlanOptions plan_options(const Sweep& sweep, const SbatchRequest& sbatch, bool canary,
                             const std::vector<std::string>& left_out,
                             const std::vector<SlurmPartition>& partitions) {
  TaskPlanOptions out{
      .canary = canary,
      .most_ranks = 1,
      .left_out = left_out,
      .seconds = sbatch.time_seconds(),
      .times = DescribeCache().known(sweep.cells),
      .counts = {},
      .partitions = partitions_named(partitions, sbatch.value(kPartitionOption).text)};
  if (!sweep.run.is_word("resources.ranks_per_job")) return out;
  std::int64_t cores = 0, gpus = 0;
  for (const SlurmPartition& partition : out.partitions) {
    cores = std::max(cores, partition.cores);
    gpus = std::max(gpus, partition.gpus);
  }
  out.most_ranks = most_ranks(sweep.run, cores, gpus);
  if (out.most_ranks > 1) out.counts = DescribeCache().known_or_counted(sweep.cells);
  return out;
}

void refuse_own_option(const std::string& word, std::string_view place) {
  if (const auto why = own_option(word)) {
    throw UserError(ExitCode::Usage, fmt::format("submit: {}: {}; leave it out", place, *why));
  }
}

Lease locked(const Store& store, LeaseKeeper& leases) {
  const fs::path folder = submissions_folder(store.root());
  make_folders(folder, store.fs());
  bool said = false;
  return submission_lock(leases, folder, [&](double seconds) {
    if (std::exchange(said, true)) return;
    log(LogLevel::Info,
        fmt::format("submit: another submission is at work here, or has died: waiting for it, "
                    "{:.0f} s at most",
                    seconds));
  });
}

}  // namespace

int submit_verb(const Arguments& arguments) {
  CommandLine line(
      "submit FILE [--store DIR] [--set KEY=VALUE]... [--canary] [-n | --test-only] [--json]\n"
      "              [-- OPTION_OF_SBATCH...]",
      "Submits array jobs to Slurm for the cells that have no result, are in no queue yet and\n"
      "have not failed for good; typed twice, it submits nothing twice. What tasks ask for stands "
      "in resources.* and\n"
      "slurm.*. Tasks checkpoint before their time limit and go back into the queue.");
  line.examples({"submit configs/quickstart.yaml --set slurm.partition=gpu --dry-run",
                 "submit configs/quickstart.yaml --canary -- --exclusive"});
  sweep_file_options(line)
      .flag("canary", "as --set slurm.canary=true: one cell of each structure first")
      .flag("dry-run,n", "show the tasks and the script instead; nothing is written")
      .flag("test-only", "let sbatch check the scripts; nothing is submitted");
  const auto split = std::ranges::find(arguments, "--");
  until_ci_options(line);
  if (!line.json().parse({arguments.begin(), split})) return 0;
  const std::vector<std::string> words(split == arguments.end() ? split : split + 1,
                                       arguments.end());
  for (const std::string& word : words) {
    if (is_plain_word(word)) continue;
    throw UserError(ExitCode::Usage, "submit: option '" + word +
                                         "' of sbatch: letters, digits and . _ - , : @ = & ( ) / "
                                         "alone");
  }
  for (const std::string& word : words) refuse_own_option(word, "after --");
  if (const auto why = own_variable(this_environment())) {
    throw UserError(ExitCode::Usage, "submit: " + *why + "; unset it");
  }
  const bool dry = line.has("dry-run"), test = line.has("test-only");
  Sweep sweep = load_planned_sweep(line);
  for (const std::string& word : sweep.run.words("slurm.extra")) {
    refuse_own_option(word, "slurm.extra");
  }
  const fs::path folder = store_of(line, sweep);
  require_script_path(absolute_path(folder).string());
  const bool staged = until_ci_of(line).has_value();
  if (staged && !dry && !test && advance_two_stage(line, sweep, folder)) {
    sweep = load_planned_sweep(line);
  }
  if (!staged) report_added_seeds(line, sweep, folder);
  refuse_over_budget(sweep, folder);
  const SlurmClient slurm;
  if (!dry && !slurm.present()) {
    throw UserError(
        ExitCode::BadConfig,
        "submit: sbatch was not found, or no Slurm controller answers; on a machine without Slurm "
        "type depthgrid run "
        "-j N, or try a submission with --dry-run or scripts/slurm/lab.sh");
  }
  const bool previews = dry || test;
  std::optional<ScratchFolder> nothing;  // who only reads makes no store
  if (previews && !Store::is_at(folder)) nothing.emplace();
  const Store store = nothing    ? Store::open_or_create(nothing->path())
                      : previews ? Store::open(folder)
                                 : Store::open_or_create(folder);
  disregard_former(store, sweep);  // tasks train these cells again, and say so
  LeaseKeeper leases({.ttl = std::chrono::seconds(sweep.run.integer("resources.lease"))},
                     store.fs());
  std::optional<Lease> lock;
  if (!previews) {
    publish_plan(store, sweep);
    lock = locked(store, leases);
  }
  const SbatchRequest sbatch{.run = sweep.run, .words = words};
  const bool asks = slurm.present();
  const auto partitions = asks ? slurm.partitions() : std::vector<SlurmPartition>{};
  const std::vector<std::string> left_out = nodes_left_out(
      faults_here(slurm, store.root()),
      partitions_named(partitions, sbatch.value(kPartitionOption).text), store.root(), previews);
  const MissingCells missing =
      find_missing(sweep, store,
                   asks ? live_tasks(submissions(store.root(), store.fs()), slurm.queue())
                        : std::vector<LiveTask>{});
  const bool canary = line.has("canary") || sweep.run.flag("slurm.canary");
  PreparedSubmission prepared =
      prepare_submission(sweep, folder,
                         task_groups(sweep, missing.wanted(),
                                     plan_options(sweep, sbatch, canary, left_out, partitions)),
                         asks ? slurm.max_array_size() : kUsualArraySize, words);
  std::string said;  // by sbatch
  if (!prepared.submission.tasks.empty()) {
    check_time(sbatch, partitions);
    if (test) said = test_prepared(prepared, store, slurm);
    if (!previews) {
      submit_prepared(prepared, store, slurm, [&] { return lock->check_deposed(); });
      EventLog(folder).add(submitted_event(prepared.submission));
    }
  }
  if (staged && !line.has("json")) print(two_stage_report(line, folder));
  if (line.has("json")) {
    print(submit_json(prepared, missing, dry, said));
  } else {
    print(said + submit_text(prepared, missing, previews));
    if (dry && !prepared.arrays.empty()) {
      print("\n" + batch_script(prepared.requests.front(), prepared.arrays.front()));
    }
  }
  return 0;
}

}  // namespace depthgrid
