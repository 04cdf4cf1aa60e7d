#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/orders/orders.hpp"
#include "sweeps/supervise/retry_book.hpp"

namespace depthgrid {

/// `run -j N` and `supervise`.
struct SupervisedRun {
  RunOrder order;                     // as of one worker
  std::optional<std::int64_t> slots;  // -j; none: what the machine has
  std::vector<std::string> cells{};   // ids of --tasks; empty: all
  bool fail_fast = false;
};

/// Adds -j and --fail-fast.
CommandLine& supervision_options(CommandLine& line);

/// By these options. @throws UserError (Usage)
SupervisedRun supervised_run(const CommandLine& line, RunOrder order);

/// The leaves retry.*. @param run  outlives them.
RetryOptions retry_options(const CellConfig& run);

/// Whether this machine or allocation has room for several jobs at once that one process cannot
/// use: several GPUs, or several nodes.
bool serves_many(const CellConfig& run);

struct SupervisedEnd {
  int code = 0;    // exit code as of `run`
  int signal = 0;  // that stopped it first; 0 = none, or one that came while the run was prepared
  bool spent = false;  // a budget is used up: nothing of it should start again by itself
};

/// Plans the sweep in the store, then starts a launch for each job that is missing and watches over
/// them (sweeps/supervise). Signals stop all launches, which write checkpoints.
/// @throws UserError
SupervisedEnd run_supervised(const CommandLine& line, const SupervisedRun& request);

}  // namespace depthgrid
