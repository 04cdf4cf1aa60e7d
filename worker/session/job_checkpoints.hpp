#pragma once

#include <cstdint>

#include "sweeps/queue/checkpoint_policy.hpp"
#include "worker/session/early_stop.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Writes the checkpoints of a job's cells: when the policy says so, at a cell's best evaluation,
/// and whenever the training ends.
class JobCheckpoints final : public SessionService {
 public:
  /// All outlive this.
  JobCheckpoints(const TrainedJob& job, CheckpointPolicy& policy, const EarlyStop& early_stop,
                 SessionRecorder& recorder)
      : job_(job), policy_(policy), early_stop_(early_stop), recorder_(recorder) {}

  bool due(std::int64_t step) const override;
  void act(const StepEvent& event) override { write(event.step); }
  void stop(std::int64_t step) override {
    if (written_ != step) write(step);
  }
  void end(std::int64_t step) override { write(step); }

 private:
  void write(std::int64_t step);

  const TrainedJob& job_;
  CheckpointPolicy& policy_;
  const EarlyStop& early_stop_;
  SessionRecorder& recorder_;
  std::int64_t written_ = -1;  // step of the last one
};

}  // namespace depthgrid
