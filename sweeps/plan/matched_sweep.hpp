#pragma once

#include <filesystem>

#include "core/config/sweep.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/match_solver.hpp"

namespace depthgrid {

/// Amounts from `depthgrid-worker describe`, cached.
Amounts described_amounts(const DescribeCache& cache = {});

/// Which amounts of `match:` are computed.
enum class MatchEffort : std::uint8_t {
  Counts,  // parameters and FLOPs are matched, times left open (Sweep::goals)
  All
};

/// load_sweep() with the widths that `match:` leaves open: from the plans of the store, or of the
/// store that the sweep file lies in, if they hold the same arms; else computed.
/// @throws as load_sweep() and solve_width(); UserError (BadConfig) if the worker cannot answer.
Sweep matched_sweep(const SweepRequest& request, const std::filesystem::path& store,
                    const Amounts& amounts, MatchEffort effort = MatchEffort::All);

}  // namespace depthgrid
