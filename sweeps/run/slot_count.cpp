#include "sweeps/run/slot_count.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {
namespace {

constexpr double kKeepSeconds = 60;  // between two records

}  // namespace

SlotCount::SlotCount(const Sweep& sweep, const Store& store, bool cards, const Clock& clock,
                     const Processes& processes)
    : store_(store.root()), clock_(clock), made_(clock.now()) {
  const ProcessIdentity self = processes.self();
  record_.name = self.host + "-" + self.uuid;
  record_.cards = cards;
  if (has_budget(sweep.run)) meter_.emplace(sweep.run, store_, used_so_far(sweep, store_));
}

void SlotCount::begin(const Supervisor& supervisor) {
  at_work_ = &supervisor;
  counted_ = clock_.now() - made_;
}

void SlotCount::count(bool keep) {
  if (at_work_ == nullptr) return;
  const double now = clock_.now() - made_, passed = now - std::exchange(counted_, now);
  record_.seconds += passed * static_cast<double>(at_work_->slots());
  record_.wall = now;
  record_.busy += passed * static_cast<double>(at_work_->busy());
  if (!keep && now - kept_ < kKeepSeconds) return;
  kept_ = now;
  try {
    keep_slots(store_, record_, Store::fs_at(store_));
  } catch (const StorageError& e) {  // hours that are told too low stop no launch
    log(LogLevel::Debug, e.what());
  }
}

std::optional<std::string> SlotCount::spent_now() {
  if (spent_ || !meter_) return std::nullopt;
  auto why = meter_->look(clock_.now() - made_, record_.busy);
  spent_ = why.has_value();
  return why;
}

}  // namespace depthgrid
