#include "sweeps/run/slot_count.hpp"

namespace depthgrid {

void SlotCount::begin(const Supervisor& supervisor) {
  use_.count(clock_.now(), {});
  at_work_ = &supervisor;
}

void SlotCount::count(bool keep) {
  if (at_work_ == nullptr) return;
  const auto busy = static_cast<double>(at_work_->busy());
  use_.count(clock_.now(),
             {.slots = static_cast<double>(at_work_->slots()), .busy = busy, .ranks = busy});
  use_.keep(keep);
}

}  // namespace depthgrid
