#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/command_line.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/compare/two_stage.hpp"
#include "sweeps/compare/two_stage_intervals.hpp"

namespace depthgrid {

// --until-ci of `run` and `submit`: see two_stage.hpp.

/// Adds --until-ci and --max-seeds.
CommandLine& until_ci_options(CommandLine& line);

/// What is asked for; nothing without --until-ci. @throws UserError (Usage) for fewer than the
/// first seeds.
std::optional<TwoStageRequest> until_ci_of(const CommandLine& line);

/// Decides after stage one if that is complete, and keeps it in the store.
/// @return  whether the store has a record now that it did not have before.
/// @throws UserError as check_two_stage(), check_same_two_stage() and decide_two_stage().
bool advance_two_stage(const CommandLine& line, const Sweep& sweep,
                       const std::filesystem::path& store);

/// What two_stage_text() says of a store with a record, of the sweep as it is then.
std::string two_stage_report(const CommandLine& line, const std::filesystem::path& store);

/// Says on stderr that the sweep has more seeds than its file, if a record of the store adds some.
/// @param sweep  of load_sweep(line).
void report_added_seeds(const CommandLine& line, const Sweep& sweep,
                        const std::filesystem::path& store);

/// On stderr, beside a table in CSV: why a record of the store says nothing in it.
void report_unshown(const std::vector<TwoStageAnswer>& answers);

/// The values of --set, and the seeds of the sweep if a record of the store has added some.
/// @param sweep  of load_sweep(line), which has them.
std::vector<std::string> set_with_added_seeds(const CommandLine& line, const Sweep& sweep,
                                              const std::filesystem::path& store);

}  // namespace depthgrid
