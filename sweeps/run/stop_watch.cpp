#include "sweeps/run/stop_watch.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/base/exit_code.hpp"

namespace depthgrid {

namespace {

constexpr int kRequests[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP};

void end_at_once(int /*signal*/) {
  _exit(number_of(ExitCode::TempFail));
}

bool is_ignored(int number) {
  struct sigaction action{};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// The first of these signals that arrives within so many seconds; 0 = none.
int arrived_within(const sigset_t& watched, double seconds) {
  double whole = 0;
  const double part = std::modf(seconds, &whole);
  const timespec time{static_cast<time_t>(whole), static_cast<long>(part * 1e9)};
  return std::max(0, sigtimedwait(&watched, nullptr, &time));
}

}  // namespace

StopWatch::StopWatch(int asked) : count_(asked > 0 ? 1 : 0), first_(asked) {
  sigemptyset(&watched_);
  for (const int number : kRequests) {
    if (number != SIGHUP || !is_ignored(number)) sigaddset(&watched_, number);
  }
  sigaddset(&watched_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

StopWatch::~StopWatch() {
  wait(0);
  for (const int number : kRequests) {
    if (sigismember(&watched_, number) == 1) std::signal(number, end_at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopWatch::wait(double seconds) {
  const int number = arrived_within(watched_, seconds);
  if (number == 0 || number == SIGCHLD) return;
  if (++count_ == 1) first_ = number;
  arrived_.push_back(number);
}

int StopWatch::take() {
  if (arrived_.empty()) return 0;
  const int out = arrived_.front();
  arrived_.pop_front();
  return out;
}

bool StopWatch::wait_unasked(double seconds) {
  for (const Stopwatch clock; clock.seconds() < seconds && !asked();)
    wait(seconds - clock.seconds());
  return !asked();
}

bool Suspension::asked() const {
  return arrived_within(held_.held(), 0) != 0;
}

void Suspension::suspend() const {
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &held_.held(), nullptr);  // it arrives here
  pthread_sigmask(SIG_BLOCK, &held_.held(), nullptr);
}

}  // namespace depthgrid
