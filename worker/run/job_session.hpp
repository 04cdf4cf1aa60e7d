#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/cells/cell_set.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"
#include "sweeps/queue/claim.hpp"
#include "sweeps/queue/lowest_losses.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/run/cell_checkpoint.hpp"
#include "worker/run/cell_recorder.hpp"
#include "worker/run/run_context.hpp"
#include "worker/run/stability_watch.hpp"
#include "worker/run/warm_start.hpp"

namespace depthgrid {

/// What an attempt at a cell of `job` says of itself, see provenance.hpp.
std::string attempt_json(const RunContext& run, const SessionJob& job);

enum class SessionEnd : std::uint8_t { Done, Stopped };

/// Trains one fused job from its first to its last step and records it. Every rank of the team runs
/// one; the first rank also evaluates, journals, checkpoints and publishes.
class JobSession {
 public:
  /// @param claims  of the first rank, in the order of job.rows; empty on the others. They are
  /// taken
  ///                over last of all: if this throws for want of memory, the caller still has them.
  JobSession(const RunContext& run, SessionJob job, std::vector<ClaimedCell>& claims);

  /// @return Stopped if a signal ended it: everything is checkpointed, the leases are released.
  SessionEnd run();

  /// Ends the attempts of cells that are not done, after an error.
  void abandon(const AttemptProblem& problem);

 private:
  void restore(const std::vector<ClaimedCell>& claims);
  void open_recorders(std::vector<ClaimedCell>& claims);
  void open_recorder(std::size_t e, ClaimedCell& claim, const std::string& attempt,
                     const RecordShape& shape);
  void replay_evaluations(std::size_t e, const CellHistory& before);
  void record(std::int64_t step, const StepReport& report, double seconds);
  /// @return true if a cell's dev loss is the lowest so far.
  bool evaluate(std::int64_t step);
  /// Records cells whose state-space layers have ceased to forget.
  void watch_stability();
  bool stop_early(std::int64_t step, const SplitResults& results);
  void checkpoint(std::int64_t step);
  /// @return false if a signal came during the final evaluation.
  bool finish();
  SessionEnd stop();
  /// Once an attempt: how far the loss has jumped where this attempt took over.
  void seam(std::size_t e, double loss);
  void finish_cell(std::size_t e, CellStatus status, const SplitResults& final_results,
                   const std::optional<ModeResults>& modes = {});
  CellFacts facts_so_far(std::size_t e) const;
  bool any_active() const;

  const RunContext& run_;
  SessionJob job_;
  std::vector<const CellConfig*> configs_;
  std::shared_ptr<const Dataset> data_;
  FusedModel fused_;
  Sampler sampler_;
  BatchSource batches_;
  CellSet cells_;
  Trainer trainer_;
  EvalPlan evals_;
  ModeEvaluation modes_;
  CheckpointPolicy policy_;
  std::vector<StartedFrom> started_;     // of cells that begin; else empty
  std::vector<CellRecorder> recorders_;  // first rank only
  std::vector<CellFacts> facts_;
  std::vector<CellClock> clocks_;
  LowestLosses lowest_;
  StabilityWatch stability_;
  std::vector<std::int64_t> made_;  // steps that each cell has made
  std::vector<std::optional<double>>
      seam_loss_;  // last loss before this attempt, until it is compared
  std::vector<double> step_seconds_;
  std::int64_t evaluations_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace depthgrid
