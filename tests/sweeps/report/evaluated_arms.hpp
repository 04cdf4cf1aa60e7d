#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "storage/plan_file.hpp"
#include "sweeps/report/listing.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {

/// Completed cells, one for each of these sets of leaves, as a listing; the first is the baseline.
inline Listing evaluated_arms(const std::vector<ValueMap>& arms) {
  Sweep sweep;
  sweep.name = "evaluated";
  sweep.metric = "final_loss.valid";
  sweep.goal = "minimize";
  for (const ValueMap& leaves : arms) {
    CellPlan cell;
    cell.config = make_config(leaves);
    cell.id = cell_id(cell.config);
    cell.row = static_cast<std::int64_t>(sweep.cells.size());
    cell.arm = "arm" + std::to_string(cell.row);
    cell.alias = cell.arm + ",s0";
    cell.baseline = cell.row == 0;
    cell.structure = structure_key(cell.config);
    sweep.cells.push_back(cell);
  }
  Listing out = list_plan(stored_plan(sweep), "store");
  for (CellSummary& cell : out.cells) cell.status = CellStatus::Completed;
  return out;
}

}  // namespace depthgrid
