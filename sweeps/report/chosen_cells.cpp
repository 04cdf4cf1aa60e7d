#include "sweeps/report/chosen_cells.hpp"

#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "sweeps/report/no_match.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {

std::vector<bool> chosen_cells(const Sweep& sweep, const std::string& filter) {
  if (filter.empty()) return std::vector<bool>(sweep.cells.size(), true);
  const Listing listing = list_sweep(sweep, "");
  const std::vector<std::size_t> rows = select_cells(listing, {"", filter});
  if (rows.empty()) {
    throw UserError(ExitCode::Usage, sweep.name + ": " + no_match_text(listing, filter) +
                                         "; depthgrid plan lists the cells");
  }
  std::set<CellId> chosen;
  for (const std::size_t row : rows) chosen.insert(sweep.cells[row].id);
  // Each source comes before the cells that start from it, so chains are followed from their ends.
  for (auto start = sweep.starts.rbegin(); start != sweep.starts.rend(); ++start) {
    if (chosen.contains(start->cell)) chosen.insert(start->source);
  }
  std::vector<bool> out;
  for (const CellPlan& cell : sweep.cells) out.push_back(chosen.contains(cell.id));
  return out;
}

}  // namespace depthgrid
