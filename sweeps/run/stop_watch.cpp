#include "sweeps/run/stop_watch.hpp"

#include <cmath>
#include <initializer_list>

#include "core/base/clock.hpp"

namespace depthgrid {

StopWatch::StopWatch(int asked) : count_(asked > 0 ? 1 : 0), first_(asked) {
  sigemptyset(&watched_);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP}) {
    sigaddset(&watched_, number);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

StopWatch::~StopWatch() {
  wait(0);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopWatch::wait(double seconds) {
  double whole = 0;
  const double part = std::modf(seconds, &whole);
  const timespec time{static_cast<time_t>(whole), static_cast<long>(part * 1e9)};
  const int number = sigtimedwait(&watched_, nullptr, &time);
  if (number <= 0) return;
  if (++count_ == 1) first_ = number;
}

bool StopWatch::wait_unasked(double seconds) {
  for (const Stopwatch clock; clock.seconds() < seconds && !asked();)
    wait(seconds - clock.seconds());
  return !asked();
}

}  // namespace depthgrid
