#include "worker/process/stop_signals.hpp"

#include <atomic>
#include <csignal>
#include <initializer_list>

#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/subprocess.hpp"

namespace depthgrid {
namespace {

std::atomic<int> interrupts = 0;
std::atomic<int> requested = 0;  // also set by the thread of the display
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  if (signal == SIGINT) {
    if (interrupts != 0) _exit(128 + SIGINT);
    interrupts = 1;
  }
  requested = 1;
}

}  // namespace

void watch_stop_signals() {
  // Killed itself, the program that started this one forwards nothing. A launcher sees to its own,
  // and may have started this process from a thread that ends before it.
  if (!under_launcher()) prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Progress that nobody reads any more (`2>&1 | head`) must not end a training.
  std::signal(SIGPIPE, SIG_IGN);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) std::signal(s, note);
  // Behind `nohup` the end of a terminal is no request.
  if (std::signal(SIGHUP, note) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool stop_requested() noexcept {
  return requested != 0;
}

bool stop_requested_within(double seconds, const Clock& clock) {
  constexpr double kPoll = 0.05;
  for (const double end = clock.now() + seconds; !stop_requested() && clock.now() < end;) {
    clock.wait(kPoll);
  }
  return stop_requested();
}

void request_stop() noexcept {
  requested = 1;
}

}  // namespace depthgrid
