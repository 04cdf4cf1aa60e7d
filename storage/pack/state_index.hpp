#pragma once

#include <string>
#include <vector>

#include "storage/cells/state_file.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The index of the files of raw states of a store's cells: columns over the axis `state_record`,
/// in the order of the cells, then of steps. Empty, without the axis, if there are none.
/// @param files  of each cell of the plan.
ColumnTable state_index(const Store& store, const StoredPlan& plan,
                        const std::vector<std::vector<StateFile>>& files);

/// Digest of the seals of files of states, hex; empty for none.
std::string states_digest(const std::vector<StateFile>& files);

}  // namespace depthgrid
