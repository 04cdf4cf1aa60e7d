#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "sweeps/slurm/partition.hpp"

namespace depthgrid {

/// A task of an array, or a job, as squeue shows it.
struct QueuedTask {
  std::string job;         // "123_4" or "123"
  std::string array;       // "123"
  std::int64_t index = 0;  // of the array
  std::string state;       // PENDING, RUNNING, COMPLETING, …
  std::string comment, reason;

  /// Whether it waits for its start, so that what it asks for can be changed.
  bool waits() const { return state == "PENDING" || state == "REQUEUED"; }
};

/// A submission whose answer was lost on its way: the scheduler may have taken it all the same.
class UncertainSubmission : public UserError {
 public:
  using UserError::UserError;
};

/// The batch system as all others see it. The real one is SlurmClient; tests pretend one.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// True if jobs can be submitted from this machine.
  virtual bool present() const = 0;

  /// Tasks that an array may have here.
  /// @throws UserError (BadConfig) if nobody answers, or arrays are switched off.
  virtual std::int64_t max_array_size() const = 0;

  /// Partitions with nodes of one kind each; empty if nobody says.
  virtual std::vector<SlurmPartition> partitions() const = 0;

  /// Names of all nodes of the cluster, sorted; empty if nobody says.
  virtual std::vector<std::string> nodes() const = 0;

  /// Id of the submitted array. @param words  further options. @throws UserError (BadConfig) with
  /// what the scheduler says, and what to do; UncertainSubmission
  virtual std::string submit(const std::string& script,
                             const std::vector<std::string>& words) const = 0;

  /// What it says of the script without submitting it. @throws UserError (BadConfig)
  virtual std::string test(const std::string& script,
                           const std::vector<std::string>& words) const = 0;

  /// This user's tasks that are not over. @throws UserError (BadConfig) if nobody answers.
  virtual std::vector<QueuedTask> queue() const = 0;

  /// GPUs × seconds that these arrays have had; nothing without accounting.
  virtual std::optional<double> gpu_seconds(const std::vector<std::string>& arrays) const = 0;

  /// Puts a running task back into the queue. @return why not; empty if it will be.
  virtual std::string requeue(const std::string& job) const = 0;

  /// Nodes that the waiting tasks of a job leave out, as its user and leave_out() have named them;
  /// ranges such as "n[1-3]" in one. @param job  a task, or an array.
  virtual std::vector<std::string> left_out(const std::string& job) const = 0;

  /// Lets the tasks of a job that wait start on none of these nodes, in the place of those that
  /// they have left out so far; what runs stays as it is. @param job  a task, or an array.
  /// @return why not; empty if they will not.
  virtual std::string leave_out(const std::string& job,
                                const std::vector<std::string>& nodes) const = 0;

  /// True if the running task is being ended, by its user or for a preemption, after which it goes
  /// back by itself; false while it may run on, and where nobody says.
  virtual bool ending(const std::string& job) const = 0;

  /// Ends jobs or tasks. @return what is said; empty if all went well.
  virtual std::string cancel(const std::vector<std::string>& jobs) const = 0;
};

}  // namespace depthgrid
