#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/real_fs.hpp"
#include "storage/store.hpp"
#include "sweeps/run/run_request.hpp"

namespace depthgrid {

/// Attempts in a store, of which each leaves a journal.
std::size_t attempts_in(const std::filesystem::path& store, const Fs& disk = real_fs());

/// Packs the store and reports the outcome of a run on stderr.
/// @param folder    of the store, as its user names it. @param progress  RunCommand::progress.
/// @return  cells that have failed, or have damaged files.
std::int64_t report_outcome(const Store& store, const Sweep& sweep, const std::string& folder,
                            bool stopped, const std::string& progress);

/// The same after a run. Says nothing of a start that was refused, or failed before anything was
/// trained: the worker has said why.
/// @param before  attempts_in() the store when the run began. @param code  of the run.
/// @return  the code, or Partial in the place of 0 if cells failed or have damaged files.
int report_run(const RunRequest& request, std::size_t before, int code);

}  // namespace depthgrid
