#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/cell.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// What the folder of a cell without a result says about it.
struct CellState {
  CellStatus status = CellStatus::Pending;
  std::int64_t generation = 0;  // highest claimed; 0 = never tried
  std::string problem;          // of a failure: what went wrong, one line
};

/// Why, as the report of a failure says it; one line.
std::string failure_reason(const StoredFailure& failure);

/// Running while somebody holds the lease; else failed, oom or cancelled if the newest attempt left
/// a report of that; else pending. Takes no lock. Not meant for cells that have a result.
CellState unfinished_state(const Store& store, const CellId& id);

/// What has come of a cell: the seal of its result or, where there is none, what its folder says.
struct CellOutcome {
  std::optional<SealInfo> seal;
  CellState state;  // pending where there is a seal
};

/// A cell that finishes between the look at its result and that at its lease is found finished, not
/// pending. Takes no lock.
CellOutcome cell_outcome(const Store& store, const CellId& id);

}  // namespace depthgrid
