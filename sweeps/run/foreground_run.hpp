#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sweeps/launch/foreground_launch.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/stop_watch.hpp"

namespace depthgrid {

/// How far a run has come.
struct RunState {
  bool goes_on = true;       // another attempt may come further
  std::int64_t reached = 0;  // grows with whatever is new
};

/// A launch for which this process waits, tried again: the preparation of a sweep, or the worker of
/// a plain run.
struct ForegroundRun {
  std::string id;  // of the launch, for events and records
  ForegroundSpec launch;
  std::filesystem::path store{};     // where what has failed is recorded, once it is there
  std::vector<std::string> cells{};  // ids; empty: all
  std::string host{}, slurm_job{};   // for the records
  std::int64_t restart = 0;          // of the task
  RetryOptions retries;
  std::function<RunState()> state{};  // after a failure; empty: nothing is ever new
  bool left_at_second = false;        // a second signal ends it at once, whichever it is
};

/// Runs it to its end.
///
/// Signals are passed on, at whatever moment they come; a crash, a kill, a hang and a fault of the
/// node are recorded in the store, and tried again with the budgets and pauses of retry.*. What it
/// refuses, it has said why. Ctrl-Z stops it together with this process.
/// @param signals  made before anything that a signal could end.
/// @param events   get its begins and ends.
/// @return  the worker's own exit code, or 128 + signal; TempFail if it was stopped before it could
///          say so.
/// @throws UserError (TempFail) see left_at_second; (BadConfig) if it cannot be started;
///         StorageError
int run_in_foreground(const ForegroundRun& run, StopWatch& signals, EventLog& events);

}  // namespace depthgrid
