#pragma once

#include <string>

#include "cli/arguments/command_line.hpp"
#include "sweeps/run/run_request.hpp"
#include "sweeps/run/supervised_run.hpp"

namespace depthgrid {

/// Adds FILE and what `run` and `supervise` understand alike.
CommandLine& run_options(CommandLine& line);
/// Adds -j and --fail-fast.
CommandLine& supervision_options(CommandLine& line);

/// How progress is shown, by --quiet and --json-progress: as RunCommand::progress.
std::string progress_of(const CommandLine& line);

/// What these options ask for, of a sweep that has been read by load_sweep(). @param line  outlives
/// it. @throws UserError (Usage)
RunRequest run_request(const CommandLine& line, Sweep sweep);
SupervisedRun supervised_run(const CommandLine& line, RunRequest request);

}  // namespace depthgrid
