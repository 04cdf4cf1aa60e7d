#include "sweeps/queue/remaining_cells.hpp"

#include <set>

#include "storage/hdf5/checkpoint.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/report/chosen_cells.hpp"

namespace depthgrid {

std::vector<bool> remaining_cells(const Sweep& sweep, const Store& store, const std::string& only,
                                  const std::vector<std::string>& named) {
  std::vector<bool> out = chosen_cells(sweep, only);
  const std::set<std::string> ours(named.begin(), named.end());
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellId& id = sweep.cells[row].id;
    out[row] = out[row] && (ours.empty() || ours.contains(id)) && !store.completed(id) &&
               !is_cancelled(store, id);
  }
  return out;
}

std::int64_t progress_measure(const Store& store, const std::vector<CellId>& cells) {
  std::int64_t out = 0;
  for (const CellId& id : cells) {
    const bool done = store.completed(id);
    const auto failure = store.newest_failure(id);
    out += ((done ? 1 : 0) + (failure ? failure->generation : 0)) << 32;
    if (!done) out += newest_step(store.cell_path(id), store.fs());
  }
  return out;
}

}  // namespace depthgrid
