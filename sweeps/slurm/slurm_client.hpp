#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/processes.hpp"
#include "sweeps/slurm/partition.hpp"
#include "sweeps/slurm/slurm_config.hpp"

namespace depthgrid {

/// A task of an array, or a job, as squeue shows it.
struct QueuedTask {
  std::string job;         // "123_4" or "123"
  std::string array;       // "123"
  std::int64_t index = 0;  // of the array
  std::string state;       // PENDING, RUNNING, COMPLETING, …
  std::string comment, reason;
};

/// Slurm by its commands. A controller that does not answer is waited for, but not for ever.
class SlurmClient {
 public:
  /// @param run       starts a command; for tests.
  /// @param patience  s for an answer. Slurm's own commands wait for a controller for about 10 s,
  ///                  several times.
  explicit SlurmClient(CommandRunner run = real_commands(), double patience = 60)
      : run_(std::move(run)), patience_(patience) {}

  /// True if sbatch is installed.
  bool present() const;

  /// tasks_per_array() of this cluster.
  /// @throws UserError (BadConfig) if nobody answers, or arrays are switched off.
  std::int64_t max_array_size() const;

  /// What sinfo lists; empty if it says nothing.
  std::vector<SlurmPartition> partitions() const;

  /// Id of the submitted array. @param words  further options. @throws UserError with what sbatch
  ///         says, and what to do.
  std::string submit(const std::string& script, const std::vector<std::string>& words) const;

  /// What sbatch says of the script without submitting it.
  std::string test(const std::string& script, const std::vector<std::string>& words) const;

  /// This user's tasks that are not over. @throws UserError (BadConfig) if nobody answers.
  std::vector<QueuedTask> queue() const;

  /// Puts a running task back into the queue. @return why not; empty if it will be.
  std::string requeue(const std::string& job) const;

  /// Lets a task that waits in the queue start on none of these nodes. @return why not; empty if
  /// so.
  std::string leave_out(const std::string& job, const std::vector<std::string>& nodes) const;

  /// True if Slurm ends the running task, by scancel or for a preemption, after which it goes back
  /// by itself; false while it may run on, and where Slurm does not say.
  bool ending(const std::string& job) const;

  /// Ends jobs or tasks. @return what scancel says; empty if all went well.
  std::string cancel(const std::vector<std::string>& jobs) const;

 private:
  CommandAnswer asked(const std::vector<std::string>& command) const;
  CommandAnswer shown(const std::string& job) const;
  bool runs(const std::string& job) const;  // also where Slurm does not say

  CommandRunner run_;
  double patience_;
};

/// The lines of `squeue -h -r -o %i|%T|%k|%r`; others are left out.
std::vector<QueuedTask> queued_tasks(const std::string& text);

/// This task of an array as scontrol names it: "123_4", else the job; empty outside of Slurm.
std::string this_task();

/// How often Slurm has put this task back into the queue.
std::int64_t restart_of_task();

}  // namespace depthgrid
