#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/hdf5/checkpoint.hpp"

namespace depthgrid {

/// Name of the text of a checkpoint that holds the marks (JournalMark) of the cell's journals at
/// its step.
inline constexpr const char* kJournalMarks = "journals";

/// Name of the number of a checkpoint that says how many steps the cell has made: fewer than the
/// checkpoint's step if it stopped early in a job that went on.
inline constexpr const char* kStepsMade = "steps_made";

/// What a cell continues from, as its earlier attempts left it.
struct CellRecovery {
  CellHistory before;
  std::optional<LoadedCheckpoint> state;  // none: from the start
  std::vector<std::string> rejected;      // checkpoints that were passed over, with the reason
  std::vector<std::string> damages;       // other files that were found damaged
};

/// Marks of all journals that were read, for checkpoints of the next attempt.
std::vector<JournalMark> journal_marks(const CellHistory& history);

/// Why a cell must not continue from a checkpoint: records up to its step, which were synced before
/// it was written, are not there any more. Empty if all are. Rows behind the checkpoint need no
/// such check, as they are computed again.
std::string lost_records(const std::filesystem::path& cell_dir, const CellHistory& history,
                         const LoadedCheckpoint& checkpoint, const Fs& disk = real_fs());

/// Reads journals and checkpoints of a cell; the caller holds its lease. Files that are no journals
/// of the cell and checkpoints that cannot be continued from are quarantined. So the cell continues
/// from the newest checkpoint before the damage, and what is lost is computed again.
CellRecovery recover_cell(const std::filesystem::path& cell_dir, const std::string& config_digest,
                          const Fs& disk = real_fs());

}  // namespace depthgrid
