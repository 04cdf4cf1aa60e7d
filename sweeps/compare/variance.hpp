#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sweeps/compare/design.hpp"
#include "sweeps/compare/seed_pairs.hpp"
#include "sweeps/compare/two_way.hpp"

namespace depthgrid {

/// How the effect of one level of A depends on the level of B: mean over seeds of
/// (a b − a₀ b) − (a b₀ − a₀ b₀), of the baselines a₀ and b₀.
struct InteractionContrast {
  std::string a, b;  // levels
  PairedContrast contrast;
};

/// Shares of variance with the seed as block, of complete grids; and interactions of two factors.
struct VarianceTable {
  std::string a, b;  // factors; b may be empty
  std::vector<std::string> levels_a, levels_b;
  std::vector<std::int64_t> seeds;
  TwoWayEffects effects;
  std::vector<InteractionContrast> interactions;
  std::string refused;  // why there are none: what is missing, and the sub-grid that is complete
};

/// Means over the combinations that are complete in all groups, of each seed that has one.
struct CompleteBlocks {
  BlockGrid<double> values;
  std::vector<std::int64_t> seeds;
  std::set<std::string> combinations = {};  // that some of these seeds has complete
};

/// @param figures  of levels_a × levels_b groups, row-major.
CompleteBlocks complete_blocks(std::span<const GroupFigures> figures, std::size_t levels_a,
                               std::size_t levels_b);

/// Factors A and B of a grid of which every seed has every cell, or A alone; else why there is
/// none. Arms without the leaves take no part.
/// @param baselines  levels that interactions are against; empty: design_of()'s.
/// @param figure, mismatch  as in seed_pairs.hpp
VarianceTable variance_table(
    const Listing& listing, const std::vector<std::size_t>& rows,
    const std::array<std::string, 2>& factors, const std::array<std::string, 2>& baselines,
    const std::function<double(std::size_t row)>& figure,
    const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch);

}  // namespace depthgrid
