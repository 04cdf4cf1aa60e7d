#pragma once

#include <cstdint>
#include <string>

#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Part of the ideal speed that is left by each doubling of a team, for the time of sums over the
/// ranks: a default for planning. Small cells have less, large ones on fast links more.
inline constexpr double kTeamEfficiency = 0.85;

/// Operations per second with which team_size()'s callers turn the operations of a cell into time.
/// Measured times would differ from machine to machine and from day to day, and with them the sizes
/// of teams: cells could not go on elsewhere with the sums they began with.
inline constexpr double kNominalCoreRate = 5e10;
inline constexpr double kNominalGpuRate = 1e13;

/// Operations of all training steps of a cell.
double training_operations(const CellConfig& config, const StructureCost& cost);

/// Time in seconds of a team of `ranks` for what one rank does in `alone` seconds.
double team_seconds(double alone, std::int64_t ranks);

/// What bounds the size of a team.
struct TeamLimits {
  std::int64_t ranks = 1;   // available
  double cell_seconds = 0;  // leaf resources.max_cell_time; 0 = none
  double memory_bytes = 0;  // of one rank's device; 0 = unknown
  bool divide = false;      // leaf resources.shard_optimizer
};

/// Memory of one of the ranks that train `cells` cells of a structure together: they share the
/// activations, and the optimiser's moments if these are divided, but not parameters and gradients.
double rank_bytes(const StructureCost& cost, std::size_t cells, std::int64_t ranks, bool divide);

struct TeamSize {
  std::int64_t ranks = 1;
  std::string why = {};  // empty for one rank
};

/// One rank, unless a cell alone takes longer than cell_seconds or does not fit in memory: then the
/// smallest power of two that cures both, or the largest there is. Pure, so that a run that goes on
/// chooses as it did before.
/// @param seconds  nominal, of a cell on one rank; NaN = unknown. @param cost  null = unknown.
TeamSize team_size(double seconds, const StructureCost* cost, const TeamLimits& limits);

}  // namespace depthgrid
