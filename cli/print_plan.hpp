#pragma once

#include <cstdint>
#include <filesystem>

#include "core/config/sweep.hpp"
#include "sweeps/plan/plan_report.hpp"

namespace depthgrid {

/// Prints what `run` would do, for `plan` and `run --dry-run`. Reads the store if there is one;
/// asks the worker about structures that are not in the cache, and plans without costs if the
/// worker cannot answer. @return the exit code.
int print_plan(const Sweep& sweep, const std::filesystem::path& store, std::int64_t teams,
               bool json);

}  // namespace depthgrid
