#include "worker/process/stop_signals.hpp"

#include <csignal>
#include <initializer_list>

#include <unistd.h>

namespace depthgrid {
namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile std::sig_atomic_t requested = 0;

void note(int signal) {
  if (signal == SIGINT) {
    if (interrupts != 0) _exit(128 + SIGINT);
    interrupts = 1;
  }
  requested = 1;
}

}  // namespace

void watch_stop_signals() {
  for (const int s : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP}) std::signal(s, note);
}

bool stop_requested() noexcept {
  return requested != 0;
}

}  // namespace depthgrid
