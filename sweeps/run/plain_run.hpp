#pragma once

#include <cstddef>

#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/run_request.hpp"
#include "sweeps/run/stop_watch.hpp"

namespace depthgrid {

/// The one worker of a plain `run`: a foreground run (sweeps/run/foreground_run) whose budgets are
/// those of a supervised launch, but that ends if its worker fails before it trains.
/// @param before  attempts_in() the store when the run began.
/// @param signals, events  as of run_in_foreground().
/// @return  the last worker's exit code, or 128 + signal; TempFail after a stop.
int run_plain(const RunRequest& request, std::size_t before, StopWatch& signals, EventLog& events);

/// retry.* for it. The worker gives a cell up by itself when it claims it after retry.crash + 2
/// crashes at the same step, and goes on with the others: the book must not end the run before.
RetryOptions plain_retries(const CellConfig& run);

}  // namespace depthgrid
