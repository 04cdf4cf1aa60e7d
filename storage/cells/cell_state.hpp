#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/cell.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// State of a cell without a result, as read from its folder: running while a process holds the
/// lease; else failed, oom or cancelled if the newest attempt left a report of that; else pending.
struct CellState {
  CellStatus status = CellStatus::Pending;
  std::int64_t generation = 0;  // highest claimed; 0 = never tried
  std::string problem;          // of a failed cell: the reason, one line
};

/// The reason given by a failure report; one line.
std::string failure_reason(const StoredFailure& failure);

/// Outcome of a cell: the seal of its result or, without a result, the state of its folder.
struct CellOutcome {
  std::optional<SealInfo> seal;
  CellState state;     // pending where there is a seal
  std::string damage;  // why what has the result's name is none; empty if nothing has
};

/// A cell that finishes between the check for its result and the check of its lease is reported as
/// finished, not as pending. Takes no lock.
/// Of a result only the seal's own block is read: whether the rest is whole, and this cell's, is
/// for those to check who read it.
CellOutcome cell_outcome(const Store& store, const CellId& id);

/// The same for a cell whose result has turned out to be damaged.
CellOutcome unfinished_outcome(const Store& store, const CellId& id);

}  // namespace depthgrid
