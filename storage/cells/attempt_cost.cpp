#include "storage/cells/attempt_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace depthgrid {
namespace {

/// Ranks per cell of each fused job.
std::map<std::string, double> shares_of_jobs(const ColumnTable& table) {
  std::map<std::string, double> out;
  const VariableColumn* jobs = table.find("job");
  const VariableColumn* cells = table.find("job_cells");
  const VariableColumn* ranks = table.find("job_ranks");
  if (jobs == nullptr || cells == nullptr || ranks == nullptr) return out;
  for (std::size_t i = 0; i < jobs->items(); ++i) {
    const double share = ranks->number(i) / cells->number(i);
    if (std::isfinite(share) && share > 0) out[jobs->text(i)] = share;
  }
  return out;
}

}  // namespace

std::map<CellId, AttemptCost> attempt_costs(const ColumnTable& table,
                                            const std::map<CellId, double>& seconds_per_step) {
  std::map<CellId, AttemptCost> out;
  for (const char* name : kAttemptCostColumns) {
    if (table.find(name) == nullptr) return out;
  }
  const std::map<std::string, double> shares = shares_of_jobs(table);
  const VariableColumn& cells = *table.find("attempt_cell");
  const auto number = [&](const char* name, std::size_t i) { return table.find(name)->number(i); };
  for (std::size_t i = 0; i < cells.items(); ++i) {
    const std::string cell = cells.text(i);
    const double first = number("attempt_first_step", i), last = number("attempt_last_step", i);
    const auto step = seconds_per_step.find(cell);
    double seconds = number("attempt_end", i) - number("attempt_start", i);
    if (!std::isfinite(seconds)) {
      seconds = step == seconds_per_step.end() ? 0 : (last - first) * step->second;
    }
    const auto share = shares.find(table.find("attempt_job")->text(i));
    seconds = std::max(0.0, seconds) * (share == shares.end() ? 1 : share->second);
    AttemptCost& cost = out[cell];
    cost.seconds += seconds;
    // Ascending generation within a cell: the next attempt has begun where this one's work ends.
    if (i + 1 == cells.items() || cells.text(i + 1) != cell || last <= first) continue;
    const double again = std::clamp(last - number("attempt_first_step", i + 1), 0.0, last - first);
    cost.lost += seconds * again / (last - first);
  }
  return out;
}

}  // namespace depthgrid
