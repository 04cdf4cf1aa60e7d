#include "storage/cells/cell_recovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/files/quarantine.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Why a journal is not what it was when it was marked; empty if it begins with the same bytes.
std::string change_of(const fs::path& cell_dir, const CellHistory& history, const JournalMark& mark,
                      const Fs& disk) {
  const std::string name = generation_name("journal", mark.generation);
  const auto at = std::ranges::find(history.attempts, mark.generation, &AttemptRecord::generation);
  if (at == history.attempts.end()) return name + " is missing";
  if (at->mark == mark) return "";
  if (at->mark.bytes < mark.bytes) {
    return fmt::format("{} has {} sound bytes of the {} at that step", name, at->mark.bytes,
                       mark.bytes);
  }
  return begins_with(cell_dir / name, mark, disk) ? ""
                                                  : name + " does not begin with the same bytes";
}

}  // namespace

std::vector<JournalMark> journal_marks(const CellHistory& history) {
  std::vector<JournalMark> out;
  for (const AttemptRecord& attempt : history.attempts) out.push_back(attempt.mark);
  return out;
}

std::string lost_records(const fs::path& cell_dir, const CellHistory& history,
                         const LoadedCheckpoint& checkpoint, const Fs& disk) {
  const std::string lost =
      fmt::format("records up to step {} are damaged, so it is not used: ", checkpoint.step);
  const std::int64_t covered = covered_steps(history);
  const auto made = checkpoint.numbers.find(kStepsMade);
  const auto text = checkpoint.texts.find(kJournalMarks);
  if (made == checkpoint.numbers.end() || text == checkpoint.texts.end()) {
    // Of a release that did not mark them. A cell that stopped early has fewer rows than steps.
    const MergedRows* train = history.find("train");
    const bool whole = checkpoint.step == 0 ||
                       (train != nullptr && covered > 0 && train->rows.steps.back() == covered);
    return whole ? "" : lost + fmt::format("the training rows end at step {}", covered);
  }
  if (covered < static_cast<std::int64_t>(made->second)) {
    return lost + fmt::format("the training rows end at step {}", covered);
  }
  const auto marks = marks_from_json(text->second);
  if (!marks) return lost + "the marks of its journals are not readable";
  for (const JournalMark& mark : *marks) {
    const std::string change = change_of(cell_dir, history, mark, disk);
    if (!change.empty()) return lost + change;
  }
  return "";
}

CellRecovery recover_cell(const fs::path& cell_dir, const std::string& config_digest,
                          const Fs& disk) {
  CellRecovery out;
  out.before = read_history(cell_dir, disk);
  out.damages = out.before.damages;
  for (const fs::path& journal : out.before.unusable) {
    out.damages.push_back(journal.string() + ": moved to " +
                          quarantine(journal, disk).filename().string());
  }
  CheckpointSearch search = newest_checkpoint(
      cell_dir, config_digest,
      [&](const LoadedCheckpoint& checkpoint) {
        return lost_records(cell_dir, out.before, checkpoint, disk);
      },
      disk);
  out.state = std::move(search.found);
  out.rejected = std::move(search.rejected);
  return out;
}

}  // namespace depthgrid
