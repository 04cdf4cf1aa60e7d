#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/real_fs.hpp"
#include "storage/files/journal.hpp"

namespace depthgrid {

/// One attempt at a cell, as recorded in its journal.
struct AttemptRecord {
  std::int64_t generation = 0;
  std::int64_t first_step = 0;    // step resumed from
  std::int64_t last_step = 0;     // last step journalled; first_step if none
  std::string attempt_json;       // "" when the header is damaged
  std::optional<AttemptEnd> end;  // nothing if it was killed or is still running
  bool torn = false;              // the tail of its journal is unreadable
  JournalMark mark = {};          // of the part that was read
};

/// Rows of one kind from all attempts, by ascending step, each from the newest attempt that has it.
struct MergedRows {
  /// Columns of the newest attempt, then those that only older ones had, along the same axes.
  RowKind kind;
  RowTable rows;
  /// Values of one column over all rows, (rows, count). @throws Error for an unknown variable.
  std::vector<double> column(std::string_view variable) const;
};

/// The merged journals of a cell.
struct CellHistory {
  std::vector<AttemptRecord> attempts;  // ascending generation
  std::vector<MergedRows> kinds;
  std::vector<RowAxis> axes;           // of the newest attempt, then those that only older ones had
  std::vector<JournalEvent> events;    // ascending generation, then as written
  std::int64_t replayed_steps = 0;     // training rows that a later attempt computed again
  std::int64_t replay_mismatches = 0;  // of these, not bitwise equal
  /// Journals that cannot be read as they were written, one line each: not a journal, of another
  /// cell or attempt, or with whole records behind damaged ones. A torn end is no damage.
  std::vector<std::string> damages;
  /// The journals themselves that are not readable at all, or not this cell's.
  std::vector<std::filesystem::path> unusable;
  const MergedRows* find(std::string_view kind) const;  // nullptr if no attempt has that kind
};

/// Reads and merges every `journal-*` of a cell. Rows of older attempts are compared bit for bit,
/// including NaN, with those of the next newer attempt that has the same step, except for
/// train_wall_time, a clock; the kind "cell" (no axis) is not compared. A cell without journals
/// gives an empty history. Of a damaged journal the records before the damage are read. A column
/// along axes of other lengths or labels than those of newer attempts (probes may measure by other
/// leaves after a resume) is left out of the older attempt's rows.
/// @param cell_dir  its name is the cell's id, which the journals name too.
CellHistory read_history(const std::filesystem::path& cell_dir, const Fs& disk = real_fs());

/// The last step n for which the training rows 1 … n are all there; 0 if none is.
std::int64_t covered_steps(const CellHistory& history);

}  // namespace depthgrid
