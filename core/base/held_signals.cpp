#include "core/base/held_signals.hpp"

namespace depthgrid {

HeldSignals::HeldSignals() noexcept {
  sigfillset(&held_);
  hold();
}

HeldSignals::HeldSignals(std::initializer_list<int> numbers) noexcept {
  sigemptyset(&held_);
  for (const int number : numbers) sigaddset(&held_, number);
  hold();
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void HeldSignals::hold() noexcept {
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

}  // namespace depthgrid
