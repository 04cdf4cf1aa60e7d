#include "sweeps/report/run_summary.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/pack/pack.hpp"

namespace depthgrid {

RunSummary conclude_run(const Store& store, const Sweep& sweep, const std::string& name,
                        bool stopped, std::optional<Terminal> terminal) {
  const PassingLine shown(std::move(terminal), "packing the store");
  const PackReport packed = pack(store);
  Listing listing = list_store(store, name, &sweep);
  RunSummary out;
  out.sweep = sweep.name;
  out.store = name;
  out.file = packed.file.string();
  out.cells = static_cast<std::int64_t>(sweep.cells.size());
  std::set<CellId> ours;
  for (const CellPlan& cell : sweep.cells) ours.insert(cell.id);
  for (const CellSummary& cell : listing.cells) {
    if (!ours.contains(cell.id)) continue;
    out.completed += cell.status == CellStatus::Completed ? 1 : 0;
    out.diverged += cell.status == CellStatus::Diverged ? 1 : 0;
    out.failed += is_failure(cell.status) ? 1 : 0;
    out.damaged += cell.damage.empty() ? 0 : 1;  // of other plans' cells, `run` mends nothing
  }
  out.stopped = stopped;
  out.problems = packed.problems;
  out.damages_met = damages_met(listing);
  for (const std::string& line : damage_lines(listing)) out.problems.push_back(line);
  out.listing = std::move(listing);
  return out;
}

std::string summary_text(const RunSummary& s) {
  return fmt::format(
      "depthgrid: {}: {} of {} cells completed, {} diverged, {} failed{}{}{}; read them with: "
      "depthgrid results {} (all records: {})",
      s.sweep, s.completed, s.cells, s.diverged, s.failed,
      s.damaged > 0 ? fmt::format(", {} with damaged files", s.damaged) : "",
      s.damages_met > 0 ? "; " + damages_text(s.damages_met) : "",
      s.stopped ? ", stopped: the same command resumes it" : "", s.store, s.file);
}

std::string summary_json(const RunSummary& s) {
  return json_text(nlohmann::ordered_json{{"schema", 1},
                                          {"event", "run_end"},
                                          {"sweep", s.sweep},
                                          {"store", s.store},
                                          {"file", s.file},
                                          {"cells_total", s.cells},
                                          {"completed", s.completed},
                                          {"diverged", s.diverged},
                                          {"failed", s.failed},
                                          {"damaged", s.damaged},
                                          {"damages_met", s.damages_met},
                                          {"stopped", s.stopped}});
}

}  // namespace depthgrid
