#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/protocol/commands.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "sweeps/run/retry_book.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {

/// Handles jobs that could not be trained: they are split, tried in a new process, or fail for
/// good. Their leases are already released: the newest claim of a cell may belong to another
/// process that is training it.
class JobRetry {
 public:
  /// All references outlive this.
  JobRetry(RunContext& run, const RunCommand& command, LeaseKeeper& leases, JobQueue& queue)
      : run_(run),
        command_(command),
        leases_(leases),
        queue_(queue),
        book_(retry_options(run.sweep.run)) {}

  /// Publishes the report of cells without a result.
  /// @param generations  of the failed attempts, one per cell of the job.
  void fail(const SessionJob& job, const std::vector<std::int64_t>& generations, CellStatus status,
            const std::string& kind, const std::string& message);

  /// After an error: whether the job stays in the queue for another attempt (leaf retry.error).
  bool again(const SessionJob& job);

  /// Splits a job of several cells; retries a single cell `retry.oom` times in a process of its own
  /// before it fails.
  /// @param peak  bytes, of the attempt.
  /// @return true if a signal arrived meanwhile.
  /// @throws UserError if the new process ended with one that concerns every cell.
  bool out_of_memory(const SessionJob& job, const std::vector<std::int64_t>& generations,
                     double peak);

  /// Exit code of a process that trains a single cell, if not Done.
  ExitCode code() const noexcept { return code_; }

 private:
  RunContext& run_;
  const RunCommand& command_;
  LeaseKeeper& leases_;
  JobQueue& queue_;
  RetryBook book_;
  ExitCode code_ = ExitCode::Done;
};

}  // namespace depthgrid
