#pragma once

namespace depthgrid {

/// INT, TERM, USR1, USR2 or HUP ask the worker to stop after the current step; so does, without a
/// launcher, the end of the process that started it. A second INT exits at once. A signal handler
/// can reach only a global, so the flag is the program's only one.
void watch_stop_signals();
bool stop_requested() noexcept;

/// Stops as a signal would: another rank of this run was asked to.
void request_stop() noexcept;

}  // namespace depthgrid
