#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/cells/cell_history.hpp"
#include "storage/files/lease.hpp"
#include "storage/hdf5/checkpoint.hpp"

namespace depthgrid {

/// Cells that train together, starting after the same step.
struct SessionJob {
  std::string id;
  std::vector<std::size_t> rows;  // into Sweep::cells
  std::int64_t first_step = 0;    // steps already done
};

/// A cell that this process holds, and the state from which it continues.
struct ClaimedCell {
  std::size_t row = 0;
  Lease lease;
  std::optional<LoadedCheckpoint> state;  // none: from the start
  std::vector<std::string> rejected;      // damaged checkpoints that were skipped
  CellHistory before;                     // what earlier attempts have recorded
};

/// Cells taken together from the store, ready for a session.
struct Claim {
  SessionJob job;
  std::vector<ClaimedCell> cells;
};

}  // namespace depthgrid
