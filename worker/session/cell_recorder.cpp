#include "worker/session/cell_recorder.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/files/quarantine.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "worker/session/state_files.hpp"

namespace depthgrid {
namespace {

constexpr double kSnapshotSeconds = 30, kSnapshotShare = 0.002;

}  // namespace

CellRecorder::CellRecorder(const Store& store, const StoredPlan& plan, const StoredCell& cell,
                           Lease lease, std::int64_t first_step, const std::string& attempt,
                           const RecordShape& shape)
    : store_(store),
      plan_(plan),
      cell_(cell),
      lease_(std::move(lease)),
      cells_(shape.cells),
      rows_(shape),
      journal_(store.cell_dir(cell.id) / generation_name("journal", lease_.generation()),
               {.generation = lease_.generation(),
                .first_step = first_step,
                .kinds = rows_.layout().kinds(),
                .attempt_json = attempt,
                .axes = rows_.layout().axes(),
                .cell = cell.id},
               {}, store.fs()),
      reached_(first_step) {}

void CellRecorder::train_row(std::int64_t step, const TrainRow& row) {
  if (!writes()) return;
  journal_.append(CellRows::kTrain, step, rows_.train(row));
  reached_ = step;
}

void CellRecorder::eval_row(std::int64_t step, const EvalRow& row) {
  if (writes()) journal_.append(CellRows::kEval, step, rows_.eval(row));
}

void CellRecorder::put_probes(std::int64_t step) {
  if (writes() && rows_.probed()) journal_.append(CellRows::kProbe, step, rows_.take_probes());
}

void CellRecorder::keep(const StateRecord& record) {
  if (writes()) store_states(folder(), cell_.id, record, fs());
}

void CellRecorder::event(std::int64_t step, EventKind kind, double value,
                         const std::string& message) {
  if (writes()) journal_.event(step, kind, value, message);
}

void CellRecorder::sync() {
  if (writes()) journal_.sync();
}

std::string CellRecorder::journal_marks() const {
  std::vector<JournalMark> marks = earlier_;
  marks.push_back(journal_.mark());
  return marks_json(marks);
}

void CellRecorder::snapshot(const CellFacts& facts) {
  const double wait =
      std::max(kSnapshotSeconds, snapshot_seconds_ * static_cast<double>(cells_) / kSnapshotShare);
  if (!writes() || since_snapshot_.seconds() < wait) return;
  const Stopwatch cost;
  const CellHistory history = read_history(folder(), fs());
  CellFacts all = facts;
  add_history_facts(all, history);
  publish_metrics(folder(), {cell_, plan_, history, CellStatus::Running, all}, fs());
  snapshot_seconds_ = cost.seconds();
  since_snapshot_ = Stopwatch();
}

void CellRecorder::abandon(std::int64_t step, const AttemptProblem& problem) {
  if (writes()) {
    if (problem.kind) journal_.event(step, *problem.kind, problem.value, problem.message);
    journal_.end(problem.outcome, static_cast<int>(problem.code));
    journal_.sync();
  } else if (!ended_) {
    end_deposed();
  }
  ended_ = true;
  lease_.release();
}

void CellRecorder::cancel(std::int64_t step) {
  if (!ended_ && !taken()) publish_cancelled(store_, cell_.id, generation());
  abandon(step, {AttemptOutcome::Preempted, ExitCode::Done, EventKind::Warning, 0,
                 std::string(kCancelledMessage)});
}

void CellRecorder::publish(const CellFileInput& input) {
  constexpr int kTries = 2;
  for (int i = 0; i < kTries; ++i) {
    publish_result(folder(), input, fs());
    const ResultState state = store_.result(cell_.id);
    if (state.kind == ResultState::Kind::Sound) return;  // ours, or that of another attempt
    if (state.kind != ResultState::Kind::Damaged) {
      throw StorageError(folder() / "result.h5", "cannot be read back: " + state.problem);
    }
    log(LogLevel::Warning,
        fmt::format("{}: {}; moved to {}", cell_.alias, state.problem,
                    quarantine(folder() / "result.h5", fs()).filename().string()));
  }
  throw StorageError(folder() / "result.h5", "is damaged whenever it is written: check the disk");
}

void CellRecorder::end_incomplete(std::int64_t covered) {
  const std::string why = fmt::format(
      "{}: of {} training steps only the first {} are recorded there: files were "
      "removed or damaged while the cell trained; what is missing is computed again",
      folder().string(), reached_, covered);
  log(LogLevel::Warning, cell_.alias + ": " + why);
  journal_.event(reached_, EventKind::Damage, static_cast<double>(covered), why);
  journal_.end(AttemptOutcome::Crash, static_cast<int>(ExitCode::BadData));
  journal_.sync();
  ended_ = true;
  lease_.release();
}

void CellRecorder::end_deposed() {
  journal_.event(0, EventKind::LeaseLost, 0, "another process has taken the cell");
  journal_.end(AttemptOutcome::Deposed, 0);
  log(LogLevel::Warning, cell_.alias + ": another process has taken this cell; its result counts");
}

bool CellRecorder::finish(CellStatus status, CellFacts facts) {
  const bool ours = !ended_ && !lease_.check_deposed();
  if (ours) {
    if (const std::int64_t covered = covered_steps(read_history(folder(), fs()));
        covered < reached_) {
      end_incomplete(covered);
      return false;
    }
    const bool diverged = status == CellStatus::Diverged;
    journal_.end(diverged ? AttemptOutcome::Diverged : AttemptOutcome::Done, 0);
    journal_.sync();
    const CellHistory history = read_history(folder(), fs());
    if (history.replay_mismatches > 0) {
      log(LogLevel::Warning,
          fmt::format("{}: {} of {} replayed steps differ from the attempt before", cell_.alias,
                      history.replay_mismatches, history.replayed_steps));
    }
    add_history_facts(facts, history);
    publish({cell_, plan_, history, status, std::move(facts)});
  } else if (!ended_) {
    end_deposed();
  }
  ended_ = true;
  lease_.release();
  return ours;
}

void add_history_facts(CellFacts& facts, const CellHistory& history) {
  if (const MergedRows* train = history.find("train"); train != nullptr && train->rows.size() > 0) {
    const std::vector<double> loss = train->column("train_loss");
    const std::size_t n = std::min<std::size_t>(50, loss.size());
    double sum = 0;
    for (std::size_t i = loss.size() - n; i < loss.size(); ++i) sum += loss[i];
    facts.set("train_loss_last50", sum / static_cast<double>(n));
    const std::vector<double> bad = train->column("train_nonfinite");
    const auto first = std::ranges::find_if(bad, [](double flag) { return flag != 0; });
    if (first != bad.end()) {
      const auto at = static_cast<std::size_t>(first - bad.begin());
      facts.set("diverged_at", static_cast<double>(train->rows.steps[at]));
    }
    facts.set("stopped_at", static_cast<double>(train->rows.steps.back()));
  }
  if (const MergedRows* eval = history.find("eval"); eval != nullptr && eval->rows.size() > 0) {
    const std::vector<double> loss = eval->column("eval_loss");
    std::vector<double> best(4, kNaN), at(4, -1);
    for (std::size_t i = 0; i < eval->rows.size(); ++i) {
      for (std::size_t s = 0; s < 4; ++s) {
        const double value = loss[i * 4 + s];
        if (std::isnan(value) || value >= best[s]) continue;
        best[s] = value;
        at[s] = static_cast<double>(eval->rows.steps[i]);
      }
    }
    facts.set("best_loss", best);
    facts.set("best_step", at);
  }
}

}  // namespace depthgrid
