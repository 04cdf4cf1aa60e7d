#include "worker/process/budget_guard.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/held_signals.hpp"
#include "core/base/log.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {
namespace {

constexpr double kLeastWait = 0.2;  // s

std::string record_name() {
  const ProcessIdentity self = this_process();
  return self.host + "-" + self.uuid;
}

}  // namespace

BudgetGuard::BudgetGuard(const Sweep& sweep, const Store& store, int ranks,
                         std::function<void(const std::string& why)> stop)
    : sweep_(sweep),
      store_(store),
      ranks_(ranks),
      stop_(std::move(stop)),
      record_{.name = record_name()},
      meter_(sweep.run, store.root(), used_so_far(sweep, store.root())) {
  if (look()) return;
  thread_ = thread_without_signals([this] { watch(); });
}

BudgetGuard::~BudgetGuard() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  keep();
}

/// @return true if a budget is used up; stop_ has been called then.
bool BudgetGuard::look() {
  const double wall = clock_.seconds();
  const auto why = meter_.look(wall, wall * ranks_);
  if (why) stop_(*why);
  return why.has_value();
}

/// For the runs that follow.
void BudgetGuard::keep() noexcept {
  if (sweep_.run.null("budget.wall_time")) return;
  record_.wall = clock_.seconds();
  try {
    keep_slots(store_.root(), record_, store_.fs());
  } catch (const std::exception& e) {  // a time that is told too low stops no training
    log_quietly(LogLevel::Warning, std::string("budget.wall_time: ") + e.what());
  }
}

void BudgetGuard::watch() {
  std::unique_lock lock(mutex_);
  while (true) {
    const double wait = std::max(kLeastWait, seconds_left(sweep_.run, meter_.use(), ranks_));
    if (wake_.wait_for(lock, std::chrono::duration<double>(wait), [this] { return closing_; })) {
      return;
    }
    keep();
    if (look()) return;
  }
}

}  // namespace depthgrid
