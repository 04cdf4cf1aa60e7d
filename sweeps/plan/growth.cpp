#include "sweeps/plan/growth.hpp"

#include <set>

#include <fmt/format.h>

#include "storage/cells/cell_state.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"

namespace depthgrid {

Growth growth_of(const Sweep& sweep, const std::filesystem::path& folder) {
  Growth out;
  if (!Store::is_at(folder)) {
    out.fresh = static_cast<std::int64_t>(sweep.cells.size());
    return out;
  }
  const Store store = Store::open(folder);
  disregard_former(store, sweep);
  std::set<CellId> ours;
  for (const CellPlan& cell : sweep.cells) {
    ours.insert(cell.id);
    // As `run` does: a result counts once it has been read whole.
    const bool done = store.completed(cell.id);
    const bool tried = !done && unfinished_outcome(store, cell.id).state.generation > 0;
    ++(done ? out.done : tried ? out.in_progress : out.fresh);
  }
  if (!has_plan(store)) return out;
  for (const StoredCell& cell : read_plan(store).cells) {
    if (ours.contains(cell.id)) continue;
    ++out.absent;
    if (store.completed(cell.id)) ++out.absent_done;
  }
  return out;
}

std::string growth_text(const Growth& g) {
  std::string out = fmt::format("{} cell{} done, {} in progress, {} new", g.done,
                                g.done == 1 ? "" : "s", g.in_progress, g.fresh);
  if (g.absent > 0) {
    out += fmt::format("; {} cell{} of the store {} not in this file ({} with a result)", g.absent,
                       g.absent == 1 ? "" : "s", g.absent == 1 ? "is" : "are", g.absent_done);
  }
  return out;
}

}  // namespace depthgrid
