#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/run_request.hpp"
#include "sweeps/run/stop_watch.hpp"

namespace depthgrid {

/// `run -j N` and `supervise`.
struct SupervisedRun {
  RunRequest request;
  std::optional<std::int64_t> slots{};  // -j; none: what the machine has
  std::vector<std::string> cells{};     // ids of --tasks; empty: all
  bool fail_fast = false;
};

/// Whether this machine or allocation has the capacity for several jobs at once that one process
/// cannot use: several GPUs, or several nodes.
bool serves_many(const CellConfig& run);

struct SupervisedEnd {
  int code = 0;        // exit code as of `run`
  int signal = 0;      // that stopped it first; 0 = none
  bool spent = false;  // a budget is used up: nothing of it should start again by itself
};

/// Plans the sweep in the store, then starts a launch for each job that is missing and watches over
/// them (sweeps/run). Signals stop all launches, which write checkpoints.
/// @param signals  made first of all: what comes before the first launch is not lost either.
/// @param events   of the store.
/// @throws UserError
SupervisedEnd run_supervised(const SupervisedRun& run, StopWatch& signals, EventLog& events);

}  // namespace depthgrid
