#pragma once

#include <string>
#include <vector>

#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/stop_watch.hpp"

namespace depthgrid {

/// Runs what prepares a sweep (its plan, corpora and audits) to its end, before the first launch.
///
/// It is watched as a launch is: signals of this process are passed on, at whatever moment they
/// come; a crash, a kill, a hang and a fault of the node are tried again with the budgets and
/// pauses of retry.*. What it refuses, it has said why.
/// @param command   the worker's. @param signals  made before anything that a signal could end.
/// @param events    get its begins and ends, as of a launch "preparation".
/// @return  0 once all is prepared; TempFail where a stop was asked for, of this process or of the
///          worker itself; else the worker's own code.
/// @throws UserError (TempFail) after a second signal; (BadConfig) if it cannot be started
int prepare_sweep(const std::vector<std::string>& command, StopWatch& signals, RetryOptions retries,
                  EventLog& events);

}  // namespace depthgrid
