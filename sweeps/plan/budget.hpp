#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// What the runs of a sweep have used.
struct BudgetUse {
  double wall = 0;          // s for which runs were at work
  double rank_seconds = 0;  // s × ranks of all attempts
  double store_bytes = 0;   // of the store's folder
};

/// Whether one of the leaves budget.* is set.
bool has_budget(const CellConfig& run);

/// Why no more may be computed: a leaf `budget.*`, its value, what was used and what to do. Nothing
/// while all of them have something left.
std::optional<std::string> used_up(const CellConfig& run, const BudgetUse& use);

/// Why the sweep does not fit into budget.store_bytes. @param there  bytes in the store.
/// @param more  bytes predicted for what is missing; NaN = not known, which is no reason.
std::optional<std::string> store_problem(const CellConfig& run, double there, double more);

/// A line for each budget beside what is used and predicted: for `plan`. @param more  predicted,
/// NaN = not known.
std::vector<std::string> budget_lines(const CellConfig& run, const BudgetUse& use,
                                      const BudgetUse& more);

/// Bytes that finished cells will take; NaN if the costs of one are unknown. @param wanted  one
/// flag per cell.
double predicted_bytes_of(const std::vector<CellPlan>& cells, const std::vector<bool>& wanted,
                          const CostTable& costs);

/// Sum of the sizes of all files below a folder; what vanishes meanwhile does not count.
double folder_bytes(const std::filesystem::path& folder, const Fs& disk = real_fs());

/// What all runs of a store have used so far: wall times of their records, costs of all attempts,
/// size. @param sweep  with a store that has a plan.
BudgetUse used_so_far(const Sweep& sweep, const std::filesystem::path& store);

}  // namespace depthgrid
