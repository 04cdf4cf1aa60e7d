#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/compare/two_stage.hpp"

namespace depthgrid {

// --until-ci of `run` and `submit`: see two_stage.hpp.

/// Adds --until-ci and --max-seeds.
CommandLine& until_ci_options(CommandLine& line);

/// What is asked for; nothing without --until-ci. @throws UserError (Usage) for --max-seeds alone.
std::optional<TwoStageRequest> until_ci_of(const CommandLine& line);

/// Decides after stage one if that is complete, and keeps it in the store.
/// @return  whether the store has a record now that it did not have before.
/// @throws UserError as check_two_stage() and decide_two_stage(), and (Usage) if the store's record
///         is of another request.
bool advance_two_stage(const CommandLine& line, const Sweep& sweep,
                       const std::filesystem::path& store);

/// What two_stage_text() says of a store with a record.
std::string two_stage_report(const Sweep& sweep, const std::filesystem::path& store);

/// The values of --set, and the seeds of the sweep if a record of the store has added some.
/// @param sweep  of load_sweep(line), which has them.
std::vector<std::string> set_with_added_seeds(const CommandLine& line, const Sweep& sweep,
                                              const std::filesystem::path& store);

}  // namespace depthgrid
