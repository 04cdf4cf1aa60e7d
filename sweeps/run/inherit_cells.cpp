#include "sweeps/run/inherit_cells.hpp"

namespace depthgrid {

bool inherit_cells(const Store& store, LeaseKeeper& leases, const std::vector<CellId>& cells) {
  bool some = false, judged = true;
  for (const CellId& id : cells) {
    if (store.completed(id)) continue;
    const auto folder = store.cell_dir(id);
    const bool free = leases.appears_free(folder), silent = leases.suspects(folder);
    some = some || free;
    judged = judged && (free || !silent);
    if (free && silent) leases.try_acquire(folder);  // and released: what has ended is free for all
  }
  return some && judged;
}

}  // namespace depthgrid
