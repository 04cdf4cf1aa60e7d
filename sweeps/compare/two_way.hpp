#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/contrast.hpp"

namespace depthgrid {

// Complete blocks: each seed has a value at every combination of the levels of two factors, or at
// every level of one. The seed is the block, so what a seed has in common cancels.

/// Numbers over (level of A, level of B, seed), row-major: [(a · levels_b + b) · seeds + s].
/// One factor alone: levels_b = 1.
template <typename Number>
struct BlockGrid {
  std::size_t levels_a = 0, levels_b = 0, seeds = 0;
  std::vector<Number> cells;

  std::size_t index(std::size_t a, std::size_t b, std::size_t s) const {
    return (a * levels_b + b) * seeds + s;
  }
};

/// One effect, tested against its own interaction with the seed. Unit of the sums: metric².
struct BlockEffect {
  double squares = kNaN, degrees = kNaN;              // of the effect
  double error_squares = kNaN, error_degrees = kNaN;  // of effect × seed
  double f = kNaN, p = kNaN;                          // F = (SS / df) / (SS_err / df_err)
  double eta2 = kNaN;                                 // SS / SS_total
  double partial_eta2 = kNaN;                         // SS / (SS + SS_err)
  double omega2 = kNaN;                               // (SS − df · MS_err) / (SS_total + MS_seed)
};

/// Analysis of variance with both factors within the seed; SS_total = those of the three effects
/// and of their errors + seed_squares.
///
/// ω² estimates the population's share and may be below 0, which then stands for 0. F assumes that
/// differences of levels have equal variances (sphericity) where a factor has more than two: no
/// correction is made. F, p and ω² are NaN for one seed or without error variance (a root mean
/// square of it ≤ 1e-12 of the values'), everything of an effect whose factor has one level, all
/// shares where nothing varies, and everything if a value is not finite.
/// Source: Winer, Brown & Michels, Statistical Principles in Experimental Design (1991); ω²:
/// Olejnik & Algina, Psychol. Methods 8 (2003), as R's effectsize::omega_squared(partial = FALSE),
/// which cuts at 0. statsmodels: AnovaRM(within=[a, b]).
struct TwoWayEffects {
  BlockEffect a, b, interaction;
  double seed_squares = kNaN, seed_degrees = kNaN, total_squares = kNaN;
};

/// @throws Error if the number of values is not that of the cells.
TwoWayEffects two_way_effects(const BlockGrid<double>& values);

/// Levels and seeds, ascending, whose combinations are all there; all empty if none was found.
struct CompleteSubGrid {
  std::vector<std::size_t> a, b, seeds;
  bool exact = true;  // no larger one exists
  std::size_t cells() const { return a.size() * b.size() * seeds.size(); }
};

/// What a sub-grid must have at least, unless the grid itself has fewer levels.
struct SubGridMinimum {
  std::size_t levels = 2, seeds = 2;
};

/// Above so many combinations of subsets of the two smaller sides (factors or seeds), 2^(p+q), the
/// answer is greedy.
inline constexpr std::size_t kExactSubsets = std::size_t{1} << 20U;

/// The complete sub-grid of most cells; of equals the one with more seeds, then with more levels
/// of A, then the first in a fixed order.
///
/// Exact by enumeration of the subsets of the two smaller sides, which determine the third (if that
/// is at most 64 long; about 10 ms at 2^20 subsets). Else greedy: drops the level or seed with the
/// largest share of missing cells until none is missing, then takes back what is complete.
/// @param present  whether a cell is there. @throws Error as above.
CompleteSubGrid complete_sub_grid(const BlockGrid<char>& present, SubGridMinimum minimum = {});

/// A trend over the levels of one ordered factor.
///
/// `slope`: per seed, the least-squares slope of its values over `scores`, Σ (x − x̄) y / Σ (x −
/// x̄)² (metric per unit of score); then t over the seeds. Page's L = Σ_j j R_j with R_j the sum
/// over seeds of the rank (mid-ranks for ties) of level j within its seed: it needs no equal steps
/// and no normal errors. p_rising tests that values rise with the level; p = min(1, 2 · smaller
/// one). Exact without ties for up to 8 levels and 50 seeds (the smallest one-sided p is 1 / k!^n:
/// k = 3 levels and n = 3 seeds give .0046); else normal, mean n k (k + 1)² / 4, variance n k² (k +
/// 1)² (k − 1) / 144, without a correction for ties (which makes p too large). L and z need two
/// levels and a seed, a p two seeds; all is NaN if a value is not finite. Source: Page, J. Am.
/// Stat. Assoc. 58 (1963). SciPy: page_trend_test.
struct MonotoneTrend {
  PairedContrast slope;
  double page_l = kNaN, z = kNaN;
  double p_rising = kNaN, p_falling = kNaN, p = kNaN;
  bool exact = false;
};

/// @param values  (levels in order, 1, seeds). @param scores  of the levels, ascending; empty:
/// 0, 1, 2, … @throws Error if sizes differ or scores do not ascend.
MonotoneTrend monotone_trend(const BlockGrid<double>& values, std::span<const double> scores = {},
                             double confidence = kConfidence);

}  // namespace depthgrid
