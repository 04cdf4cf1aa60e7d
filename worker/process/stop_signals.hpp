#pragma once

#include "core/base/clock.hpp"

namespace depthgrid {

/// INT, TERM, USR1, USR2 or HUP ask the worker to stop after the current step; so does, without a
/// launcher, the end of the process that started it. A second INT exits at once. A signal handler
/// can reach only a global, so the flag is the program's only one.
void watch_stop_signals();
bool stop_requested() noexcept;

/// Waits for so many seconds, or less long if a stop is requested. @return stop_requested()
bool stop_requested_within(double seconds, const Clock& clock = real_clock());

/// Stops as a signal would: another rank of this run was asked to.
void request_stop() noexcept;

}  // namespace depthgrid
