#pragma once

namespace depthgrid {

/// Asks the worker to stop after the step in hand: INT, TERM, USR1, USR2 or HUP. A second INT
/// leaves at once. A signal handler can reach nothing but a global, so this is the program's only
/// one.
void watch_stop_signals();
bool stop_requested() noexcept;

}  // namespace depthgrid
