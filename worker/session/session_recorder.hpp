#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/cells/cell_file.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"
#include "worker/session/cell_checkpoint.hpp"
#include "worker/session/cell_recorder.hpp"
#include "worker/session/early_stop.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"
#include "worker/session/warm_start.hpp"

namespace depthgrid {

/// Self-description of an attempt at a cell of `job`, see provenance.hpp.
std::string attempt_json(const RunContext& run, const SessionJob& job);

/// Records a job's attempt on the team's first rank: a CellRecorder per cell with its facts, clock
/// and the seam where this attempt takes over. On other ranks it stays empty.
class SessionRecorder final : public SessionService {
 public:
  /// All outlive this.
  SessionRecorder(const TrainedJob& job, const CheckpointPolicy& policy,
                  const EarlyStop& early_stop);

  /// Opens the journals.
  /// @param claims   in the order of the job's rows. They are moved from at the very end: if this
  ///                 runs out of memory, the caller still has them.
  /// @param clocks   of earlier attempts, one per cell.
  /// @param started  what cells have started from; empty if they resume.
  void open(std::vector<ClaimedCell>& claims, const RecordShape& shape,
            std::vector<CellClock> clocks, const std::vector<StartedFrom>& started);

  /// Number of recorded cells: E, or 0.
  std::size_t size() const noexcept { return cells_.size(); }
  CellRecorder& cell(std::size_t e) { return cells_.at(e); }
  /// One per cell; null for those that have not made this step, because they ended before.
  std::vector<CellRecorder*> that_made(std::int64_t step);
  const CellClock& clock(std::size_t e) const { return clocks_.at(e); }
  /// Charges each of these cells its share of `seconds`.
  void charge(double CellClock::* part, double seconds, const std::vector<std::size_t>& cells);
  /// The same of a measurement of a probe.
  void charge_probe(const std::string& probe, double seconds,
                    const std::vector<std::size_t>& cells);

  /// Sets the number of steps that cell e has made, fewer than the job's.
  void set_made(std::size_t e, std::int64_t steps) {
    made_.at(e) = steps;
    cells_.at(e).set_reached(steps);
  }

  bool due(std::int64_t /*step*/) const override { return true; }
  void act(const StepEvent& event) override;

  /// True while some cell trains that no other process has taken.
  bool any_active() const;
  /// False once all cells have ended or were taken.
  bool writes() const;

  /// A cell whose lease is about to lapse, as its heartbeat cannot be written; else nothing. See
  /// Lease::silent().
  std::optional<std::size_t> silent() const;

  /// Marks seams at which no step of this attempt could be compared.
  void end_seams();

  /// Publishes the result of cell e and removes the checkpoints that are not kept.
  /// @param add  adds facts to those known for every cell.
  void finish_cell(std::size_t e, CellStatus status,
                   const std::function<void(CellFacts&)>& add = {});

  /// Publishes that cell e has diverged, after the steps that it has made.
  /// @param loss  nats per token: the reason, or a sound one where a gradient is not finite.
  /// @param of    what it is the loss of, for the event: "", or "final ".
  void end_diverged(std::size_t e, double loss, std::string_view of = "");

  /// Ends the attempt at cell e as a user has requested: no result, its checkpoints stay.
  void cancel_cell(std::size_t e);

  /// Ends the attempts of cells that are not done.
  void abandon(const AttemptProblem& problem);

 private:
  void open_cell(std::size_t e, ClaimedCell& claim, const std::string& attempt,
                 const RecordShape& shape, const std::string& started);
  void begin_seam(std::size_t e, const CellHistory& before);
  /// Records, once per attempt, the jump of the loss where this attempt took over.
  void end_seam(std::size_t e, double loss);
  std::size_t made_by(const StepReport& report) const;
  CellFacts facts_so_far(std::size_t e) const;

  const TrainedJob& job_;
  const CheckpointPolicy& policy_;
  const EarlyStop& early_stop_;
  std::vector<CellRecorder> cells_;
  std::vector<CellFacts> facts_;
  std::vector<CellClock> clocks_;
  std::vector<std::int64_t> made_;                // steps that each cell has made
  std::vector<std::optional<double>> seam_loss_;  // last loss before this attempt, until compared
  std::vector<double> step_seconds_;
  std::int64_t step_;
};

}  // namespace depthgrid
