#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/text_form.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/slurm/batch_script.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using SubmitJson = nlohmann::ordered_json;

/// A task should end well before the time limit, and soon enough that the queue can breathe.
constexpr double kPartOfLimit = 0.5, kTaskSeconds = 3600;

/// What is left to submit.
struct Missing {
  std::vector<bool> wanted;  // by row
  std::int64_t done = 0, queued = 0, cancelled = 0;
};

Missing missing_cells(const Sweep& sweep, const Store& store, const std::vector<LiveTask>& live) {
  std::set<std::string> queued;
  for (const LiveTask& task : live) queued.insert(task.cells.begin(), task.cells.end());
  Missing out;
  for (const CellPlan& cell : sweep.cells) {
    const bool done = store.completed(cell.id), waits = !done && queued.contains(cell.id);
    const bool cancelled = !done && !waits && is_cancelled(store, cell.id);
    out.done += done ? 1 : 0;
    out.queued += waits ? 1 : 0;
    out.cancelled += cancelled ? 1 : 0;
    out.wanted.push_back(!done && !waits && !cancelled);
  }
  return out;
}

/// The cells in tasks, longest jobs first.
std::vector<std::vector<std::string>> task_lines(const Sweep& sweep,
                                                 const std::vector<bool>& wanted,
                                                 const TaskRequest& request) {
  const CostTable costs = DescribeCache().known(sweep.cells);  // else the number of jobs decides
  std::vector<std::vector<std::string>> jobs;
  std::vector<double> seconds;
  for (const FusedJob& job :
       plan_jobs(sweep.cells, wanted, packing_options(sweep.run, request.slots), costs)) {
    if (!job.after.empty()) {
      throw UserError(ExitCode::Usage,
                      "submit: cells that start from other cells (model.init.from) cannot be "
                      "divided into tasks yet; run this sweep in one allocation: "
                      "depthgrid supervise FILE");
    }
    std::vector<std::string>& cells = jobs.emplace_back();
    for (const std::size_t row : job.cells) cells.push_back(sweep.cells[row].id);
    seconds.push_back(job.predicted_seconds);
  }
  const auto slots = static_cast<double>(request.slots);
  const bool fixed = !sweep.run.is_word("packing.cells_per_launch");
  if (fixed) {
    const std::int64_t each = sweep.run.integer("packing.cells_per_launch") * request.slots;
    std::ranges::fill(seconds, kNaN);
    return tasks_of(jobs, seconds, 0, each);
  }
  const double limit = static_cast<double>(request.time_seconds) * kPartOfLimit;
  return tasks_of(jobs, seconds, slots * std::min(limit, kTaskSeconds), request.slots);
}

/// One cell of each structure before all others; the rest of its task stays together.
std::vector<std::vector<std::string>> canary_lines(const Sweep& sweep, std::vector<bool>& wanted) {
  std::vector<std::vector<std::string>> out;
  std::set<std::string> seen;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    if (!wanted[row] || !seen.insert(sweep.cells[row].structure).second) continue;
    wanted[row] = false;
    out.push_back({sweep.cells[row].id});
  }
  return out;
}

/// Paths and names that all arrays of a submission share.
BatchArray array_of(const Sweep& sweep, const Store& store, const Submission& submission,
                    const SubmittedArray& array) {
  const fs::path folder = fs::absolute(submission_folder(store.root(), submission.id));
  std::string name = "depthgrid:";
  for (const char letter : sweep.name) name += is_plain_word({&letter, 1}) ? letter : '_';
  return {.name = name,
          .comment = array.comment,
          .tasks = array.tasks,
          .offset = array.first,
          .parallel = 0,
          .dependency = "",
          .program = program_beside("depthgrid").string(),
          .sweep = fs::absolute(store.sweep_yaml()).string(),
          .store = fs::absolute(store.root()).string(),
          .task_file = (folder / "tasks.txt").string(),
          .log_folder = (folder / "logs").string()};
}

/// Arrays for `tasks` lines from `first` on.
void add_arrays(Submission& to, std::int64_t first, std::int64_t tasks, std::int64_t most,
                bool canary) {
  for (const std::int64_t size : array_sizes(tasks, most)) {
    const auto n = to.arrays.size();
    to.arrays.push_back({.script = fmt::format("array-{}.sbatch", n),
                         .comment = fmt::format("depthgrid:{}:{}", to.id, n),
                         .first = first,
                         .tasks = size,
                         .job = "",
                         .canary = canary});
    first += size;
  }
}

/// A submission and the texts of its scripts.
struct Prepared {
  Submission submission;
  std::vector<BatchArray> arrays;
  TaskRequest request;
};

Prepared prepare(const Sweep& sweep, const Store& store, Missing& missing, bool canary,
                 std::int64_t most) {
  Prepared out;
  out.request = task_request(sweep.run, bad_nodes(store.root()));
  Submission& submission = out.submission;
  submission.id = this_process().uuid.substr(0, 12);
  submission.time = iso_utc(unix_time());
  if (canary) submission.tasks = canary_lines(sweep, missing.wanted);
  const auto first = static_cast<std::int64_t>(submission.tasks.size());
  add_arrays(submission, 0, first, most, true);
  for (auto& line : task_lines(sweep, missing.wanted, out.request)) {
    submission.tasks.push_back(std::move(line));
  }
  add_arrays(submission, first, static_cast<std::int64_t>(submission.tasks.size()) - first, most,
             false);
  const auto main = std::ranges::count(submission.arrays, false, &SubmittedArray::canary);
  for (const SubmittedArray& array : submission.arrays) {
    BatchArray& batch = out.arrays.emplace_back(array_of(sweep, store, submission, array));
    // The limit of tasks at a time holds for all arrays together.
    if (out.request.parallel > 0) {
      batch.parallel = array.canary ? out.request.parallel
                                    : std::max<std::int64_t>(1, out.request.parallel / main);
    }
    if (!sweep.run.null("slurm.dependency")) {
      batch.dependency = sweep.run.word("slurm.dependency");
    }
  }
  return out;
}

/// What a main array waits for: the canary's arrays, if there are any.
std::string after_canaries(const Submission& submission) {
  std::string out;
  for (const SubmittedArray& array : submission.arrays) {
    if (array.canary && !array.job.empty()) out += (out.empty() ? "afterok:" : ":") + array.job;
  }
  return out;
}

/// Writes the scripts, then hands them to sbatch, one after the other. Each id is kept at once.
void hand_over(Prepared& prepared, const Store& store, const SlurmClient& slurm,
               const std::vector<std::string>& words, bool test) {
  Submission& submission = prepared.submission;
  const fs::path folder = submission_folder(store.root(), submission.id);
  make_folders(folder / "logs");
  keep_submission(store.root(), submission);
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    SubmittedArray& array = submission.arrays[i];
    BatchArray& batch = prepared.arrays[i];
    const std::string canaries = array.canary ? "" : after_canaries(submission);
    if (!canaries.empty()) {
      batch.dependency += (batch.dependency.empty() ? "" : ",") + canaries;
    }
    publish_replace(folder / array.script, batch_script(prepared.request, batch));
    const std::string script = (folder / array.script).string();
    if (test) {
      print(slurm.test(script, words) + "\n");
      continue;
    }
    array.job = slurm.submit(script, words);
    keep_submission(store.root(), submission);
  }
}

SubmitJson json_of(const Prepared& prepared, const Missing& missing, bool scripts) {
  SubmitJson arrays = SubmitJson::array();
  for (std::size_t i = 0; i < prepared.arrays.size(); ++i) {
    const SubmittedArray& array = prepared.submission.arrays[i];
    arrays.push_back({{"job", array.job},
                      {"tasks", array.tasks},
                      {"first", array.first},
                      {"canary", array.canary}});
    if (scripts) {
      arrays.back()["script"] = batch_script(prepared.request, prepared.arrays[i]);
    }
  }
  std::size_t cells = 0;
  for (const auto& line : prepared.submission.tasks) cells += line.size();
  return {{"schema", 1},
          {"submission", prepared.submission.arrays.empty() ? "" : prepared.submission.id},
          {"cells", cells},
          {"tasks", prepared.submission.tasks.size()},
          {"done", missing.done},
          {"queued", missing.queued},
          {"cancelled", missing.cancelled},
          {"arrays", arrays}};
}

std::string text_of(const Prepared& prepared, const Missing& missing, bool dry) {
  const Submission& submission = prepared.submission;
  std::size_t cells = 0;
  for (const auto& line : submission.tasks) cells += line.size();
  std::string out =
      fmt::format("{} cells done, {} in the queue or running", missing.done, missing.queued);
  if (missing.cancelled > 0) out += fmt::format(", {} cancelled", missing.cancelled);
  if (submission.tasks.empty()) return out + "; nothing to submit\n";
  out += fmt::format("; {} cells in {} tasks {}\n", cells, submission.tasks.size(),
                     dry ? "to submit" : "submitted");
  for (const SubmittedArray& array : submission.arrays) {
    out += fmt::format("  {}{}: {} tasks{}\n", array.canary ? "canary " : "array ",
                       array.job.empty() ? array.script : array.job, array.tasks,
                       array.job.empty() ? "" : ", " + array.script);
  }
  return out;
}

}  // namespace

int submit_verb(const Arguments& arguments) {
  CommandLine line(
      "submit FILE [--store DIR] [--set KEY=VALUE]... [--canary] [-n | --test-only] [--json]\n"
      "              [-- OPTION_OF_SBATCH...]",
      "Submits array jobs to Slurm for the cells that have no result and are in no queue yet;\n"
      "typed twice, it submits nothing twice. What tasks ask for stands in resources.* and\n"
      "slurm.*. Tasks checkpoint before their time limit and go back into the queue.");
  line.examples({"submit configs/quickstart.yaml --set slurm.partition=gpu --dry-run",
                 "submit configs/quickstart.yaml --canary -- --exclusive"});
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "folder of the results (default: results/<name of the sweep>)")
      .flag("canary", "as --set slurm.canary=true: one cell of each structure first")
      .flag("dry-run,n", "show the tasks and the script instead; nothing is written")
      .flag("test-only", "let sbatch check the scripts; nothing is submitted")
      .flag("json", "print JSON");
  const auto split = std::ranges::find(arguments, "--");
  if (!line.parse({arguments.begin(), split})) return 0;
  const std::vector<std::string> words(split == arguments.end() ? split : split + 1,
                                       arguments.end());
  for (const std::string& word : words) {
    if (is_plain_word(word)) continue;
    throw UserError(ExitCode::Usage, "submit: option '" + word +
                                         "' of sbatch: letters, digits and . _ - , : @ = & ( ) / "
                                         "alone");
  }
  const bool dry = line.has("dry-run"), test = line.has("test-only");
  const Sweep sweep = load_planned_sweep(line);
  const fs::path folder = store_of(line, sweep);
  const SlurmClient slurm;
  if (!dry && !slurm.present()) {
    throw UserError(ExitCode::BadConfig,
                    "submit: sbatch is not here; on a machine without Slurm type depthgrid run "
                    "-j N, or try a submission with --dry-run or scripts/slurm/lab.sh");
  }
  if (dry && !fs::exists(folder / "STORE.json")) {
    throw UserError(ExitCode::NoInput, folder.string() +
                                           ": no store yet; depthgrid plan shows the jobs, and "
                                           "--test-only lets sbatch check the scripts");
  }
  const Store store = dry ? Store::open(folder) : Store::open_or_create(folder);
  std::unique_ptr<LeaseKeeper> leases;
  std::optional<Lease> lock;
  if (!dry) {
    publish_plan(store, sweep);
    make_folders(submissions_folder(store.root()));
    leases = std::make_unique<LeaseKeeper>(
        LeaseOptions{.ttl = std::chrono::seconds(sweep.run.integer("resources.lease"))});
    lock = leases->try_acquire(submissions_folder(store.root()));
    if (!lock) {
      throw UserError(ExitCode::TempFail, submissions_folder(store.root()).string() +
                                              ": another depthgrid submit is at work here; wait "
                                              "for it, then look at depthgrid status");
    }
  }
  const bool asks = slurm.present();
  Missing missing = missing_cells(
      sweep, store,
      asks ? live_tasks(submissions(store.root()), slurm.queue()) : std::vector<LiveTask>{});
  const bool canary = line.has("canary") || sweep.run.flag("slurm.canary");
  Prepared prepared = prepare(sweep, store, missing, canary, asks ? slurm.max_array_size() : 1001);
  if (!dry && !prepared.submission.tasks.empty()) {
    hand_over(prepared, store, slurm, words, test);
  }
  if (test && !prepared.submission.tasks.empty()) {
    fs::remove_all(submission_folder(store.root(), prepared.submission.id));
  }
  if (line.has("json")) {
    print(json_of(prepared, missing, dry).dump(2) + "\n");
  } else {
    print(text_of(prepared, missing, dry || test));
    if (dry && !prepared.arrays.empty()) {
      print("\n" + batch_script(prepared.request, prepared.arrays.front()));
    }
  }
  return 0;
}

}  // namespace depthgrid
