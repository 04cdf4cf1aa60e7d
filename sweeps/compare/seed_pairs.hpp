#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sweeps/compare/design.hpp"
#include "sweeps/report/evaluation_basis.hpp"

namespace depthgrid {

/// A figure of a cell.
struct CellFigure {
  std::size_t row;  // of the listing
  double value;
};

/// The figures of a group in one metric, of its completed cells, by seed and combination. Of cells
/// with one seed and combination the first counts.
using GroupFigures = std::map<std::int64_t, std::map<std::string, CellFigure>>;

/// @param value  of a cell in the metric; NaN: none. Infinite values count.
GroupFigures group_figures(const Listing& listing, const Design& design, const ComparedGroup& group,
                           const std::function<double(std::size_t row)>& value);

/// One figure a seed: the mean over its combinations, with equal weights. Seeds that lack some
/// combination that another seed of the group has are left out.
std::map<std::int64_t, double> seed_averages(const GroupFigures& figures);

/// Their values.
std::vector<double> averages_of(const GroupFigures& figures);

/// The rows of all figures.
std::vector<std::size_t> rows_of(const GroupFigures& figures);

/// Combinations of two groups of which the means are compared with each other.
struct PairedCombinations {
  std::vector<std::string> mine, theirs;
};

/// Each combination with itself.
std::vector<PairedCombinations> equal_combinations(const GroupFigures& mine,
                                                   const GroupFigures& theirs);

/// All of one group with all of the other.
std::vector<PairedCombinations> whole_groups(const GroupFigures& mine, const GroupFigures& theirs);

/// A cell of a pair, and its share in the pair's figure.
struct WeightedRow {
  std::size_t row;
  double weight;
};

/// The cells of one pair.
struct PairRows {
  std::vector<WeightedRow> mine, theirs;
};

/// Two groups, seed by seed.
struct SeedPairs {
  std::vector<std::int64_t> seeds;  // ascending
  std::vector<double> mine, theirs;
  std::vector<PairRows> rows;  // that these are of
  /// Seeds with figures in one of the two groups only, in this one or in the baseline: no pair.
  std::vector<std::int64_t> left_out, baseline_left_out;
  std::size_t combinations = 0;       // of this group that a pair is the mean of, at most
  std::vector<std::size_t> unpaired;  // rows of pairs of which the other cell is missing
  BasisMismatch refused;              // why cells cannot be compared: then there is no pair

  std::vector<double> differences() const;  // mine − theirs
};

/// The seeds of both groups. The figure of a seed is the mean, with equal weights, over those of
/// the paired combinations that are complete there; the cells of others leave both sides.
/// @param mismatch  of two rows; the first one that is found refuses all.
SeedPairs seed_pairs(const GroupFigures& mine, const GroupFigures& theirs,
                     const std::vector<PairedCombinations>& paired,
                     const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch);

}  // namespace depthgrid
