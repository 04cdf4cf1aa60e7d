#include "sweeps/run/budget_check.hpp"

#include "core/base/error.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/queue/remaining_cells.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

void refuse_over_budget(const Sweep& sweep, const fs::path& folder) {
  if (sweep.run.null("budget.store_bytes")) return;
  std::vector<bool> wanted(sweep.cells.size(), true);
  if (Store::is_at(folder)) {
    const Store store = Store::open(folder);
    disregard_former(store, sweep);
    wanted = remaining_cells(sweep, store, "", {});
  }
  const double more =
      predicted_bytes_of(sweep.cells, wanted, DescribeCache().known_or_counted(sweep.cells));
  const auto problem = store_problem(sweep.run, folder_bytes(folder), more);
  if (problem) throw UserError(ExitCode::BadConfig, *problem);
}

std::string add_budgets(const Sweep& sweep, const fs::path& folder, PlanReport& report) {
  if (!has_budget(sweep.run)) return {};
  BudgetUse more{
      .wall = predicted_makespan(report.jobs, report.packing.ranks()),
      .store_bytes = predicted_bytes_of(sweep.cells, to_train(report.status), report.costs)};
  for (const FusedJob& job : report.jobs) {
    more.rank_seconds += job.predicted_seconds * static_cast<double>(job.ranks);
  }
  const bool begun = Store::is_at(folder) && has_plan(Store::open(folder));
  const BudgetUse used = begun ? used_so_far(sweep, folder) : BudgetUse{};
  for (std::string& line : budget_lines(sweep.run, used, more)) {
    report.notes.push_back(std::move(line));
  }
  return store_problem(sweep.run, used.store_bytes, more.store_bytes).value_or("");
}

}  // namespace depthgrid
