#include "sweeps/plan/use_count.hpp"

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace depthgrid {
namespace {

constexpr double kMinute = 60;

}  // namespace

UseCount::UseCount(const Sweep& sweep, const Store& store, bool cards, double now,
                   const Processes& processes)
    : run_(sweep.run), store_(store), made_(now) {
  const ProcessIdentity self = processes.self();
  record_.name = self.host + "-" + self.uuid;
  record_.cards = cards;
  if (has_budget(run_)) before_ = used_so_far(sweep, store.root());
}

void UseCount::count(double now, const SlotUse& use) {
  const double wall = now - made_, passed = wall - record_.wall;
  record_.wall = wall;
  record_.seconds += passed * use.slots;
  record_.busy += passed * use.busy;
  rank_seconds_ += passed * use.ranks;
}

void UseCount::keep(bool at_once) {
  if (!at_once && record_.wall - kept_ < kMinute) return;
  kept_ = record_.wall;
  try {
    keep_slots(store_.root(), record_, store_.fs());
  } catch (const StorageError& e) {  // times that are recorded too low stop no work
    log(LogLevel::Debug, e.what());
  }
}

std::optional<std::string> UseCount::spent_now() {
  if (spent_ || !before_) return std::nullopt;
  if (record_.wall - measured_ >= kMinute && !run_.null("budget.store_bytes")) {
    measured_ = record_.wall;
    before_->store_bytes = folder_bytes(store_.root(), store_.fs());
  }
  auto why = used_up(run_, {.wall = before_->wall + record_.wall,
                            .rank_seconds = before_->rank_seconds + rank_seconds_,
                            .store_bytes = before_->store_bytes});
  spent_ = why.has_value();
  return why;
}

}  // namespace depthgrid
