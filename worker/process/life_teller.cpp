#include "worker/process/life_teller.hpp"

#include <algorithm>

namespace depthgrid {

LifeTeller::LifeTeller(const Watchdog& watchdog, const std::filesystem::path& channel)
    : watchdog_(watchdog), channel_(channel) {}

double LifeTeller::period(double hang) {
  constexpr double kLongest = 5, kPart = 4;
  return hang > 0 ? std::min(kLongest, hang / kPart) : kLongest;
}

void LifeTeller::tick() {
  const LifeSign now = watchdog_.life();
  if (now.beats == told_.beats) return;
  channel_.sign_life(now);
  told_ = now;
}

}  // namespace depthgrid
