#include "sweeps/plan/use_count.hpp"

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace depthgrid {

UseCount::UseCount(const Sweep& sweep, const Store& store, bool cards, double now,
                   const Processes& processes)
    : store_(store), made_(now) {
  const ProcessIdentity self = processes.self();
  record_.name = self.host + "-" + self.uuid;
  record_.cards = cards;
  if (has_budget(sweep.run)) {
    meter_.emplace(sweep.run, store.root(), used_so_far(sweep, store.root()));
  }
}

void UseCount::count(double now, const SlotUse& use) {
  const double wall = now - made_, passed = wall - record_.wall;
  record_.wall = wall;
  record_.seconds += passed * use.slots;
  record_.busy += passed * use.busy;
  rank_seconds_ += passed * use.ranks;
}

void UseCount::keep(bool at_once) {
  constexpr double kMinute = 60;
  if (!at_once && record_.wall - kept_ < kMinute) return;
  kept_ = record_.wall;
  try {
    keep_slots(store_.root(), record_, store_.fs());
  } catch (const StorageError& e) {  // times that are told too low stop no work
    log(LogLevel::Debug, e.what());
  }
}

std::optional<std::string> UseCount::spent_now() {
  if (spent_ || !meter_) return std::nullopt;
  auto why = meter_->look(record_.wall, rank_seconds_);
  spent_ = why.has_value();
  return why;
}

}  // namespace depthgrid
