#include "worker/process/budget_guard.hpp"

#include <utility>

namespace depthgrid {

BudgetGuard::BudgetGuard(const Sweep& sweep, const Store& store, int ranks, double now, Stop stop)
    : at_work_{.ranks = static_cast<double>(ranks)},
      keeps_(!sweep.run.null("budget.wall_time")),
      stop_(std::move(stop)),
      use_(sweep, store, false, now) {}

void BudgetGuard::count(double now, bool at_once) {
  use_.count(now, at_work_);
  if (keeps_) use_.keep(at_once);
}

void BudgetGuard::tick(double now) {
  count(now, false);
  if (const auto why = use_.spent_now()) stop_(*why);
}

void BudgetGuard::end(double now) {
  count(now, true);
}

}  // namespace depthgrid
