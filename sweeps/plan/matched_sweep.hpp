#pragma once

#include <filesystem>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/match_solver.hpp"

namespace depthgrid {

/// Amounts as `depthgrid-worker describe` gives them, kept in the cache. The cache must outlive
/// what is returned.
Amounts described_amounts(const DescribeCache& cache);

/// Widths in the plan of a store, sealed; none without a plan. @param folder  of the store.
std::vector<MatchedWidth> sealed_widths(const std::filesystem::path& folder);

enum class MatchEffort : std::uint8_t {
  Counts,  // parameters and FLOPs are matched, times left open (Sweep::goals)
  All
};

/// load_sweep(), and the widths that `match:` asks for: from the plan of the store where there is
/// one, else found now.
/// @throws as load_sweep() and solve_width(); UserError (BadConfig) if the worker cannot answer.
Sweep matched_sweep(const SweepRequest& request, const std::filesystem::path& store,
                    const Amounts& amounts, MatchEffort effort = MatchEffort::All);

}  // namespace depthgrid
