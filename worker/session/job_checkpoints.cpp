#include "worker/session/job_checkpoints.hpp"

#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "worker/session/cell_checkpoint.hpp"

namespace depthgrid {

bool JobCheckpoints::due(std::int64_t step) const {
  if (step >= job_.steps()) return false;  // the one of the end follows
  return (policy_.keeps_best() && early_stop_.improved_at(step)) || policy_.due(step);
}

void JobCheckpoints::write(std::int64_t step) {
  if (written_ == step) return;
  const Stopwatch clock;
  std::vector<std::size_t> written;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    CellRecorder& cell = recorder_.cell(e);
    if (!cell.writes() || job_.status(e) == CellStatus::Diverged) continue;
    cell.sync();
    const CellCheckpoint state(job_.fused, e, recorder_.clock(e), job_.run.sync.ranks());
    CheckpointData data = state.data(step, config_digest(*job_.configs[e]));
    data.texts[kJournalMarks] = cell.journal_marks();
    data.numbers[kStepsMade] = static_cast<double>(cell.reached());
    watches_.save(e, data.numbers);
    try {
      publish_checkpoint(cell.folder(), cell.generation(), data, policy_.keep_last(),
                         policy_.kept(early_stop_.lowest(e).improved, step), cell.fs());
    } catch (const StorageError&) {
      if (cell.taken()) continue;  // the next owner may remove this attempt's checkpoints
      throw;
    }
    cell.event(step, EventKind::Checkpoint, static_cast<double>(step), "");
    written.push_back(e);
  }
  recorder_.charge(&CellClock::checkpoint, clock.seconds(), written);
  policy_.written(clock.seconds());
  written_ = step;
}

}  // namespace depthgrid
