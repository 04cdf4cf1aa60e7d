#include "worker/process/life_reporter.hpp"

#include <algorithm>

namespace depthgrid {

LifeReporter::LifeReporter(const Watchdog& watchdog, const std::filesystem::path& channel)
    : watchdog_(watchdog), channel_(channel) {}

double LifeReporter::period(double hang) {
  constexpr double kLongest = 5, kPart = 4;
  return hang > 0 ? std::min(kLongest, hang / kPart) : kLongest;
}

void LifeReporter::tick() {
  const LifeSign now = watchdog_.life();
  if (now.beats == reported_.beats) return;
  channel_.sign_life(now);
  reported_ = now;
}

}  // namespace depthgrid
