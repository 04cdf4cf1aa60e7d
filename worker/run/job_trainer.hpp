#pragma once

#include "sweeps/queue/job_queue.hpp"
#include "worker/run/job_retry.hpp"
#include "worker/run/run_context.hpp"

namespace depthgrid {

/// Trains claimed jobs as the first rank of a team, from the claim to the outcome.
class JobTrainer {
 public:
  /// All references outlive this.
  JobTrainer(const RunContext& run, JobQueue& queue, JobRetry& retry)
      : run_(run), queue_(queue), retry_(retry) {}

  /// An error of the job itself is recorded and goes to JobRetry.
  /// @return true if a signal ended it.
  /// @throws UserError for what concerns every cell; any error in a team of several ranks: the
  ///         others wait for this one, so end them all.
  bool train(Claim claim);

 private:
  const RunContext& run_;
  JobQueue& queue_;
  JobRetry& retry_;
};

}  // namespace depthgrid
