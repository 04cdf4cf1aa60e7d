#include "sweeps/launch/launched_sweep.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "sweeps/live/live_cells.hpp"
#include "sweeps/plan/kept_tokens.hpp"

namespace depthgrid {

LiveSweep launched_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                         const std::vector<LaunchPlan>& launches, std::int64_t slots,
                         const std::vector<std::string>& named) {
  std::vector<std::int64_t> ranks(sweep.cells.size(), 1);
  std::vector<std::vector<std::size_t>> jobs;
  for (const LaunchPlan& launch : launches) {
    auto row = launch.rows.begin();
    for (const std::size_t size : launch.jobs) {
      const auto end = row + static_cast<std::ptrdiff_t>(size);
      jobs.emplace_back(row, end);
      row = end;
    }
    for (const std::size_t each : launch.rows) ranks[each] = launch.ranks;
  }
  KeptTokens kept(store);
  std::vector<LiveCell> cells =
      live_cells(sweep, store, costs, [&](std::size_t row) { return ranks[row]; }, std::ref(kept));
  const std::set<std::string> ours(named.begin(), named.end());
  for (std::size_t row = 0; row < cells.size(); ++row) {
    cells[row].width = static_cast<std::size_t>(ranks[row]);
    cells[row].counted = ours.empty() || ours.contains(sweep.cells[row].id);
  }
  LiveSweep out(sweep.name, std::move(cells));
  out.plan(std::move(jobs), static_cast<std::size_t>(slots));
  return out;
}

}  // namespace depthgrid
