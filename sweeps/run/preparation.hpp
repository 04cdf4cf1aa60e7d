#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/stop_watch.hpp"

namespace depthgrid {

/// What prepares a sweep, before the first launch: its plan, corpora and audits.
struct Preparation {
  /// Words of the worker, which tells how far it is in the folder `board`.
  std::function<std::vector<std::string>(const std::string& board)> command;
  std::filesystem::path store{};     // where what has failed is recorded, once it is there
  std::vector<std::string> cells{};  // ids; empty: all
  std::string host{}, slurm_job{};   // for the records
  std::int64_t restart = 0;          // of the task
  double hang = 0;                   // RunOrder::hang
  RetryOptions retries;
};

struct PreparationEnd {
  int code = 0;         // 0: all is prepared; TempFail: a stop was asked for, of this process or of
                        // the worker itself; else the worker's own
  std::string cause{};  // why this node is to blame for it, as LaunchRecord::cause
};

/// Runs it to its end.
///
/// It is a launch as any other, whose output is this process's own: signals are passed on, at
/// whatever moment they come; a crash, a kill, a fault of the node and a worker that gives no sign
/// of life are recorded in the store, and tried again with the budgets and pauses of retry.*. What
/// it refuses, it has said why.
/// @param signals  made before anything that a signal could end.
/// @param events   get its begins and ends.
/// @throws UserError (TempFail) after a second signal; (BadConfig) if it cannot be started;
///         StorageError
PreparationEnd prepare_sweep(const Preparation& preparation, StopWatch& signals, EventLog& events);

}  // namespace depthgrid
