#pragma once

#include <cstdint>

#include "sweeps/queue/checkpoint_policy.hpp"
#include "worker/session/early_stop.hpp"
#include "worker/session/probe_watches.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Writes the checkpoints of a job's cells: when the policy says so, at a cell's best evaluation,
/// and whenever the training ends. On the team's first rank; the session calls it last after each
/// step, once the ranks have compared their parameters.
class JobCheckpoints {
 public:
  /// All outlive this.
  JobCheckpoints(const TrainedJob& job, CheckpointPolicy& policy, const EarlyStop& early_stop,
                 const ProbeWatches& watches, SessionRecorder& recorder)
      : job_(job),
        policy_(policy),
        early_stop_(early_stop),
        watches_(watches),
        recorder_(recorder) {}

  /// True if one is to be written after this step, at which the training goes on.
  bool due(std::int64_t step) const;

  /// Writes those of all cells that go on or have ended well, unless they were written after this
  /// step already.
  void write(std::int64_t step);

 private:
  const TrainedJob& job_;
  CheckpointPolicy& policy_;
  const EarlyStop& early_stop_;
  const ProbeWatches& watches_;
  SessionRecorder& recorder_;
  std::int64_t written_ = -1;  // step of the last one
};

}  // namespace depthgrid
