#include "sweeps/slurm/prepared_submission.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/text_form.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// In a submission's folder. The store's own sweep.yaml is that of the newest plan, which may be
/// another one when a task begins.
constexpr std::string_view kSweepFile = "sweep.yaml";

/// Paths and names that all arrays of a submission share.
BatchArray array_of(const Sweep& sweep, const fs::path& store, const Submission& submission,
                    const SubmittedArray& array) {
  const fs::path folder = absolute_path(submission_folder(store, submission.id));
  std::string name = "depthgrid:";
  for (const char letter : sweep.name) name += is_plain_word({&letter, 1}) ? letter : '_';
  return {
      .name = name,
      .comment = array.comment,
      .tasks = array.tasks,
      .offset = array.first,
      .parallel = 0,
      .dependency = sweep.run.null("slurm.dependency") ? "" : sweep.run.word("slurm.dependency"),
      .program = program_beside("depthgrid").string(),
      .sweep = (folder / kSweepFile).string(),
      .store = absolute_path(store).string(),
      .task_file = (folder / "tasks.txt").string(),
      .log_folder = (folder / "logs").string()};
}

/// What a main array waits for: the canary's arrays, if there are any.
std::string after_canaries(const Submission& submission) {
  std::string out;
  for (const SubmittedArray& array : submission.arrays) {
    if (array.canary && !array.job.empty()) out += (out.empty() ? "afterok:" : ":") + array.job;
  }
  return out;
}

/// Writes each script and hands it on. @param take  gets the array and the path of its script.
void hand_over(PreparedSubmission& prepared, const Store& store,
               const std::function<void(SubmittedArray& array, const std::string& script)>& take) {
  Submission& submission = prepared.submission;
  const fs::path folder = submission_folder(store.root(), submission.id);
  make_folders(folder / "logs", store.fs());
  publish_once(folder / kSweepFile, prepared.sweep_yaml, store.fs());
  keep_submission(store.root(), submission, store.fs());
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    SubmittedArray& array = submission.arrays[i];
    BatchArray& batch = prepared.arrays[i];
    const auto wait_for = [&batch](const std::string& jobs) {
      if (!jobs.empty()) batch.dependency += (batch.dependency.empty() ? "" : ",") + jobs;
    };
    if (!array.canary) wait_for(after_canaries(submission));
    if (batch.behind && !submission.arrays[*batch.behind].job.empty())
      wait_for("afterany:" + submission.arrays[*batch.behind].job);
    publish_replace(folder / array.script, batch_script(prepared.requests[i], batch), store.fs());
    take(array, (folder / array.script).string());
  }
}

/// Takes what another submission has submitted as well out of the queue. @return a sentence of it.
std::string withdraw_doubled(const std::string& id, const Store& store, const Scheduler& slurm) {
  try {
    const auto doubled =
        doubled_tasks(live_tasks(submissions(store.root(), store.fs()), slurm.queue()), id);
    if (doubled.empty()) return {};
    const std::string problem = slurm.cancel(doubled);
    if (problem.empty()) {
      return fmt::format("; {}, which both have submitted, left the queue",
                         fmt::join(doubled, ", "));
    }
    return fmt::format("; both have submitted {}, and scancel says: {}", fmt::join(doubled, ", "),
                       problem);
  } catch (const UserError& e) {
    return fmt::format(
        "; both may have submitted some of their tasks, which then find nothing to "
        "do ({})",
        e.what());
  }
}

/// Ends a submission that another one has overtaken. @throws UserError (TempFail)
[[noreturn]] void leave_to_others(Submission& submission, const Store& store,
                                  const Scheduler& slurm) {
  std::erase_if(submission.arrays, [](const SubmittedArray& array) { return array.job.empty(); });
  keep_submission(store.root(), submission, store.fs());
  const std::vector<std::string> arrays = submission.jobs();
  throw UserError(
      ExitCode::TempFail,
      fmt::format("submit: this process was suspended for longer than its lease, and another "
                  "submission has gone on in its place. Arrays of this one: {}{}. depthgrid status "
                  "shows all; the same command submits what is missing",
                  arrays.empty() ? "none" : fmt::format("{}", fmt::join(arrays, ", ")),
                  withdraw_doubled(submission.id, store, slurm)));
}

/// Ends a submission of which sbatch was asked for this array and gave no answer: searches for it
/// in the queue, and keeps its id. @throws UserError as `lost`, with what was taken.
[[noreturn]] void report_taken(const UncertainSubmission& lost, Submission& submission,
                               SubmittedArray& array, const Store& store, const Scheduler& slurm) {
  const std::vector<std::string> before = submission.jobs();
  std::string report;
  try {
    for (const QueuedTask& task : slurm.queue()) {
      if (task.comment == array.comment) array.job = task.array;
    }
    report =
        array.job.empty()
            ? fmt::format("The queue shows no task of {}, which may still come", array.script)
            : fmt::format("Slurm has taken {} all the same: array {}", array.script, array.job);
  } catch (const UserError& e) {
    const std::string why = e.what();
    report = fmt::format("Whether Slurm has taken {} is not known ({})", array.script,
                         why.substr(0, why.find('\n')));
  }
  keep_submission(store.root(), submission, store.fs());
  if (!before.empty()) report += fmt::format("; before it, array {}", fmt::join(before, ", "));
  throw UserError(lost.code(),
                  fmt::format("{}\n{}. The same command goes on: it searches the queue first, and "
                              "submits what is missing",
                              lost.what(), report));
}

/// Holds the tasks of all arrays to slurm.array_parallelism at a time. A scheduler limits one array
/// alone: so many run beside each other as the limit has tasks, with a share of it each, and every
/// further one waits for the end of one of these.
void limit_parallel(PreparedSubmission& out) {
  std::vector<std::size_t> main;
  for (std::size_t i = 0; i < out.arrays.size(); ++i) {
    if (out.submission.arrays[i].canary) {
      out.arrays[i].parallel = out.requests[i].parallel;
    } else if (out.requests[i].parallel > 0) {
      main.push_back(i);
    }
  }
  if (main.empty()) return;
  const auto most = static_cast<std::size_t>(out.requests[main.front()].parallel);
  const std::size_t lanes = std::min(most, main.size());
  for (std::size_t i = 0; i < main.size(); ++i) {
    BatchArray& array = out.arrays[main[i]];
    array.parallel = static_cast<std::int64_t>(most / lanes + (i % lanes < most % lanes ? 1 : 0));
    if (i >= lanes) array.behind = main[i - lanes];
  }
}

}  // namespace

PreparedSubmission prepare_submission(const Sweep& sweep, const fs::path& store,
                                      const std::vector<TaskGroup>& groups, std::int64_t most,
                                      const std::vector<std::string>& words, const Clock& clock,
                                      const Processes& processes) {
  PreparedSubmission out;
  Submission& submission = out.submission;
  submission.id = processes.self().uuid.substr(0, 12);
  submission.time = iso_utc(clock.unix_time());
  submission.words = words;
  out.sweep_yaml = sweep.yaml;
  for (const TaskGroup& group : groups) {
    std::int64_t first = std::ssize(submission.tasks);
    submission.tasks.insert(submission.tasks.end(), group.tasks.begin(), group.tasks.end());
    for (const std::int64_t size : array_sizes(std::ssize(group.tasks), most)) {
      const std::size_t n = submission.arrays.size();
      submission.arrays.push_back({.script = fmt::format("array-{}.sbatch", n),
                                   .comment = fmt::format("depthgrid:{}:{}", submission.id, n),
                                   .first = first,
                                   .tasks = size,
                                   .ranks = group.ranks,
                                   .job = "",
                                   .canary = group.canary});
      out.requests.push_back(group.request);
      first += size;
    }
  }
  for (const SubmittedArray& array : submission.arrays)
    out.arrays.push_back(array_of(sweep, store, submission, array));
  limit_parallel(out);
  return out;
}

void submit_prepared(PreparedSubmission& prepared, const Store& store, const Scheduler& slurm,
                     const std::function<bool()>& deposed) {
  hand_over(prepared, store, [&](SubmittedArray& array, const std::string& script) {
    if (deposed()) leave_to_others(prepared.submission, store, slurm);
    try {
      array.job = slurm.submit(script, prepared.submission.words);
    } catch (const UncertainSubmission& lost) {
      report_taken(lost, prepared.submission, array, store, slurm);
    }
    keep_submission(store.root(), prepared.submission, store.fs());
    if (deposed()) leave_to_others(prepared.submission, store, slurm);
  });
}

std::string test_prepared(PreparedSubmission& prepared, const Store& store,
                          const Scheduler& slurm) {
  std::string report;
  const fs::path folder = submission_folder(store.root(), prepared.submission.id);
  try {
    hand_over(prepared, store, [&](const SubmittedArray&, const std::string& script) {
      report += slurm.test(script, prepared.submission.words) + "\n";
    });
  } catch (...) {
    store.fs().remove_all(folder);
    throw;
  }
  store.fs().remove_all(folder);
  return report;
}

}  // namespace depthgrid
