#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// An array of a submission.
struct SubmittedArray {
  std::string script;                 // file name in the submission's folder
  std::string comment;                // by which squeue shows whose it is
  std::int64_t first = 0, tasks = 0;  // lines of tasks.txt
  std::int64_t ranks = 1;             // of the tasks' jobs
  std::string job;                    // Slurm's id; empty: it is not known whether sbatch took it
  bool canary = false;                // one cell of each structure, for which the others wait
};

/// One `depthgrid submit`: `submissions/<id>/` in the store, with submission.json, tasks.txt and
/// the scripts. Written before sbatch is called, so that a task can never be without it.
struct Submission {
  std::string id;
  std::string time;                             // UTC
  std::vector<std::vector<std::string>> tasks;  // ids of cells; line n of tasks.txt
  std::vector<SubmittedArray> arrays;
  std::vector<std::string> words{};  // further options of sbatch

  /// Ids of its arrays, as far as they are known.
  std::vector<std::string> jobs() const;
};

std::filesystem::path submissions_folder(const std::filesystem::path& store);
std::filesystem::path submission_folder(const std::filesystem::path& store, const std::string& id);

/// Writes tasks.txt and submission.json, or the latter anew. @throws StorageError
void keep_submission(const std::filesystem::path& store, const Submission& submission,
                     const Fs& disk = real_fs());

/// Nothing if it is not there or cannot be read.
std::optional<Submission> submission_of(const std::filesystem::path& store, const std::string& id,
                                        const Fs& disk = real_fs());

/// All submissions of a store, the oldest first; unreadable ones are left out.
std::vector<Submission> submissions(const std::filesystem::path& store, const Fs& disk = real_fs());

/// That it was submitted: the arrays with an id, as this user's.
SweepEvent submitted_event(const Submission& submission);

/// A task of a submission that Slurm still has.
struct LiveTask {
  std::string submission;
  std::int64_t task = 0;  // line of tasks.txt
  QueuedTask queued;
  std::vector<std::string> cells;
  bool canary = false;
};

/// Tasks of these submissions that are in the queue, found by their arrays' comments, so that an
/// array whose id was never learnt is found as well.
std::vector<LiveTask> live_tasks(const std::vector<Submission>& submissions,
                                 const std::vector<QueuedTask>& queue);

/// Slurm's names of tasks that wait in the queue for cells which a user has named, and have nothing
/// to do any more. A canary for which others wait is none of them: if one is cancelled, Slurm
/// removes those as well; it begins, finds nothing to do and succeeds.
/// @param named  whether it is one of the user's. @param over  whether it is done or cancelled.
std::vector<std::string> needless_tasks(const std::vector<LiveTask>& live,
                                        const std::function<bool(const std::string& cell)>& named,
                                        const std::function<bool(const std::string& cell)>& over);

/// Tasks of one submission that wait in the queue and whose cells are all in tasks of others: it
/// was suspended for so long that another one took its lock and its place.
std::vector<std::string> doubled_tasks(const std::vector<LiveTask>& live,
                                       const std::string& submission);

/// Divides jobs (lists of cells) among tasks, in their order.
/// @param seconds  predicted for each job on one slot; NaN = unknown. @param limit  seconds of one
///                 task over all its slots. @param least  jobs that a task gets at least.
std::vector<std::vector<std::string>> tasks_of(const std::vector<std::vector<std::string>>& jobs,
                                               const std::vector<double>& seconds, double limit,
                                               std::int64_t least);

/// Numbers of tasks of the arrays, none above `most`.
std::vector<std::int64_t> array_sizes(std::int64_t tasks, std::int64_t most);

}  // namespace depthgrid
