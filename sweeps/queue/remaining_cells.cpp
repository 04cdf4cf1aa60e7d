#include "sweeps/queue/remaining_cells.hpp"

#include <set>

#include "sweeps/queue/cell_orders.hpp"
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

}  // namespace depthgrid
