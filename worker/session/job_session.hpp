#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/trainer.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "worker/session/cancel_service.hpp"
#include "worker/session/control_terms.hpp"
#include "worker/session/early_stop.hpp"
#include "worker/session/job_checkpoints.hpp"
#include "worker/session/job_evaluation.hpp"
#include "worker/session/probe_service.hpp"
#include "worker/session/probe_watches.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/stability_watch.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

enum class SessionEnd : std::uint8_t { Done, Stopped };

/// Trains one fused job from its first to its last step. Every rank of the team runs one; on the
/// first rank, services follow the loop: they record and evaluate, and checkpoints are written.
class JobSession {
 public:
  /// @param claims  of the first rank, in the order of job.rows; empty on the others. See
  ///                SessionRecorder::open().
  JobSession(RunContext& run, SessionJob job, std::vector<ClaimedCell>& claims);

  /// @return Stopped if a signal ended it: everything is checkpointed, the leases are released.
  /// @throws StorageError if heartbeats cannot be written, after a checkpoint, if that can be
  ///         written; Error if the ranks of the team differ in their parameters.
  SessionEnd run();

  /// Ends the attempts of cells that are not done, after an error.
  void abandon(const AttemptProblem& problem) { recorder_.abandon(problem); }

 private:
  /// Restores the state from which the cells continue. @return their clocks.
  std::vector<CellClock> restore(const std::vector<ClaimedCell>& claims);
  RecordShape record_shape() const;
  void announce() const;
  std::vector<std::string> cell_ids() const;
  /// What the team does after a step; of what its ranks ask for, the last of these words.
  enum class Turn : std::uint8_t { Next, Save, Stop };
  Turn turn();
  WorkPhase meeting() const;
  /// Makes the team agree on the cells that go on and on their parameters.
  void agree_on_running();
  /// @return false if a signal arrived during the final evaluation.
  bool finish();
  SessionEnd stop();

  TrainedJob job_;
  std::unique_ptr<BatchSource> batches_;
  JobObjective objective_;
  Trainer trainer_;
  CheckpointPolicy policy_;
  EarlyStop early_stop_;
  SessionRecorder recorder_;
  JobEvaluation evaluation_;
  StabilityService stability_;
  ProbeService probes_;
  ProbeWatches watches_;
  CancelService cancels_;
  JobCheckpoints checkpoints_;
  SessionServices services_;
  std::int64_t step_;
  std::int64_t running_;  // cells, when the team last agreed on them
};

}  // namespace depthgrid
