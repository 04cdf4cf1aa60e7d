#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "cli/command_line.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {

/// How progress is shown, by --quiet and --json-progress: as RunOrder::progress.
std::string progress_of(const CommandLine& line);

/// Attempts in a store, of which each leaves a journal.
std::size_t attempts_in(const std::filesystem::path& store);

/// Packs the store and reports the outcome of a run on stderr. Says nothing of a start that was
/// refused, or failed before anything was trained: the worker has said why.
/// @param before  attempts_in() the store when the run began. @param code  of the run.
/// @return  true if cells failed or have damaged files.
bool report_run(const CommandLine& line, const Sweep& sweep, const std::filesystem::path& folder,
                std::size_t before, int code, const std::string& progress);

}  // namespace depthgrid
