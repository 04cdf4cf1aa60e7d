#pragma once

#include <vector>

#include "storage/files/lease_keeper.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Takes cells over from owners that have fallen silent, and gives them free at once, so that the
/// launch which will train them need not wait for their leases a second time. Counts as an
/// observation of the heartbeats of all of them: call it again and again.
/// @param leases  of this process.
/// @return false while such an owner may yet come back, and while living ones have all of the
///         cells: a launch would only wait for them.
bool inherit_cells(const Store& store, LeaseKeeper& leases, const std::vector<CellId>& cells);

}  // namespace depthgrid
