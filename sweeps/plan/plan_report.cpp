#include "sweeps/plan/plan_report.hpp"

#include <algorithm>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

PlanReport make_plan_report(const Sweep& sweep, std::string store, std::vector<CellStatus> status,
                            const PackingOptions& packing, CostTable costs,
                            std::vector<std::string> notes) {
  std::vector<bool> wanted;
  for (const CellStatus s : status) wanted.push_back(!is_result(s));
  PlanReport report;
  report.jobs = plan_jobs(sweep.cells, wanted, packing, costs);
  report.store = std::move(store);
  report.status = std::move(status);
  report.packing = packing;
  report.costs = std::move(costs);
  report.notes = std::move(notes);
  const bool open_end = std::any_of(sweep.cells.begin(), sweep.cells.end(), [](const CellPlan& c) {
    return c.config.null("eval.final_windows");
  });
  if (open_end && !report.jobs.empty() && !report.costs.empty()) {
    report.notes.push_back(
        "times leave out the final evaluation over whole splits, whose size only the corpus knows "
        "(eval.final_windows bounds it)");
  }
  return report;
}

}  // namespace depthgrid
