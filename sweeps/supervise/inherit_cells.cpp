#include "sweeps/supervise/inherit_cells.hpp"

namespace depthgrid {

bool inherit_cells(const Store& store, LeaseKeeper& leases, const std::vector<CellId>& cells) {
  bool all = true;
  for (const CellId& id : cells) {
    if (store.completed(id)) continue;
    const auto folder = store.cell_dir(id);
    const bool free = leases.looks_free(folder);
    if (!leases.suspects(folder)) continue;
    if (free) {
      leases.try_acquire(folder);  // and released: an ended heartbeat is free for everybody
    } else {
      all = false;
    }
  }
  return all;
}

}  // namespace depthgrid
