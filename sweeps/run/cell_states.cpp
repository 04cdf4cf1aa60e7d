#include "sweeps/run/cell_states.hpp"

#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {

CellStates::CellStates(const Sweep& sweep, const Store& store)
    : sweep_(sweep),
      store_(store),
      finalised_(sweep.cells.size(), false),
      failed_before_(failure_generations(store, sweep)) {}

bool CellStates::done(std::size_t row) const {
  return store_.completed(sweep_.cells[row].id);
}

bool CellStates::cancelled(std::size_t row) const {
  return is_cancelled(store_, sweep_.cells[row].id);
}

bool CellStates::finalised(std::size_t row) {
  if (finalised_[row]) return true;
  const CellId& id = sweep_.cells[row].id;
  if (store_.completed(id)) return finalised_[row] = true;
  if (is_cancelled(store_, id)) return true;  // depthgrid retry may undo it
  const auto failure = store_.newest_failure(id);
  return finalised_[row] = failure && failure->generation > failed_before_[row];
}

}  // namespace depthgrid
