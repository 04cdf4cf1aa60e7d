#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/clock.hpp"
#include "core/base/exit_code.hpp"
#include "core/probe/record.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/cells/cell_recovery.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/lease.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "worker/session/cell_rows.hpp"

namespace depthgrid {

/// Why an attempt ended without a result.
struct AttemptProblem {
  AttemptOutcome outcome = AttemptOutcome::Error;
  ExitCode code = ExitCode::Failed;
  std::optional<EventKind> kind;  // Failure or Warning; none: nothing went wrong
  double value = 0;
  std::string message;
};

/// Writes the journal, snapshots and result of one attempt at one cell. The team's first rank has
/// one per cell of the job.
class CellRecorder {
 public:
  /// Opens the journal of the lease's generation.
  /// @param first_step  steps done before this attempt.
  CellRecorder(const Store& store, const StoredPlan& plan, const StoredCell& cell, Lease lease,
               std::int64_t first_step, const std::string& attempt, const RecordShape& shape);

  const StoredCell& cell() const noexcept { return cell_; }
  std::filesystem::path folder() const { return store_.cell_dir(cell_.id); }
  const Fs& fs() const { return store_.fs(); }  // of the folder
  std::int64_t generation() const { return lease_.generation(); }

  /// False once another process has taken the cell: nothing more is written then.
  bool writes() const { return !lease_.deposed() && !ended_; }

  /// Checks now whether another process has taken the cell.
  bool taken() { return lease_.check_deposed(); }
  /// True if it writes, but its heartbeat has failed for long. See Lease::silent().
  bool silent() const { return writes() && lease_.silent(); }

  void train_row(std::int64_t step, const TrainRow& row);
  void eval_row(std::int64_t step, const EvalRow& row);

  /// Adds the rates of execution of an evaluation of cell e to the row of probes.
  void put(const ModeResults& modes, std::size_t e) { rows_.put(modes, e); }

  /// Adds one of RecordShape::series to the row of probes. @throws Error for a wrong count.
  void put(std::size_t series, std::span<const double> values) { rows_.put(series, values); }
  /// Writes what probes have put since their last row, if anything. Call it once per step: of two
  /// rows, only the second would count.
  void put_probes(std::int64_t step);
  /// Writes raw states into a file of their own, unless it is there.
  void keep(const StateRecord& record);

  void event(std::int64_t step, EventKind kind, double value, const std::string& message);
  void sync();

  /// Steps that the cell has made: those before this attempt, then those that train_row() was
  /// given.
  std::int64_t reached() const noexcept { return reached_; }
  void set_reached(std::int64_t steps) noexcept { reached_ = steps; }

  /// Tells what earlier attempts have recorded, for journal_marks().
  void follow(const CellHistory& before) { earlier_ = depthgrid::journal_marks(before); }
  /// Marks of the journals of all attempts so far, for a checkpoint.
  std::string journal_marks() const;

  /// Publishes metrics.h5, at most every 30 s and for at most 0.2 % of the time.
  void snapshot(const CellFacts& facts);

  /// Ends the attempt without a result and records the event of its problem; the cell can be taken
  /// at once. If the cell has been taken, the attempt is recorded as deposed, whatever the problem.
  /// An attempt that has ended is left unchanged.
  void abandon(std::int64_t step, const AttemptProblem& problem);

  /// The same because a user has cancelled the cell, which nobody takes then: the report is
  /// published while the lease is held.
  void cancel(std::int64_t step);

  /// Ends the attempt and publishes result.h5. @param facts  complete except for the history
  /// (best losses, last losses), which is added here.
  /// @return false if another process has the cell, or if records of steps that were made are not
  ///         in its folder any more: nothing was published. The latter ends the attempt as a crash,
  ///         and the next one computes them again.
  /// @throws StorageError if the result does not come to be.
  bool finish(CellStatus status, CellFacts facts);

 private:
  /// Publishes the result; what is damaged in its place is quarantined.
  void publish(const CellFileInput& input);
  /// Ends an attempt whose records are not whole.
  void end_incomplete(std::int64_t covered);
  /// Ends the journal of an attempt whose cell another process has taken. The journal is still this
  /// attempt's own, and without an end it would count as a crash.
  void end_deposed();

  const Store& store_;
  const StoredPlan& plan_;
  const StoredCell& cell_;
  Lease lease_;
  std::int64_t cells_;  // of the job
  CellRows rows_;
  Journal journal_;
  Stopwatch since_snapshot_;
  double snapshot_seconds_ = 0;  // cost of the last one
  bool ended_ = false;
  std::int64_t reached_;
  std::vector<JournalMark> earlier_;  // of the journals of earlier attempts
};

/// best_loss, best_step, train_loss_last50 and the like, from the records of all attempts.
void add_history_facts(CellFacts& facts, const CellHistory& history);

}  // namespace depthgrid
