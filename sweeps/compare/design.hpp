#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Cells that a comparison takes as one side: those at one level of a factor, or an arm.
struct ComparedGroup {
  std::string name;            // the level as a person writes it, or the arm
  std::string tag;             // of an arm that has one
  std::optional<Value> level;  // nothing: an arm that does not read the factor's leaf
  bool baseline = false;
  std::vector<std::size_t> cells;       // rows of the listing, in its order
  std::array<std::size_t, 7> counts{};  // cells by CellStatus

  std::size_t count(CellStatus status) const { return counts[static_cast<std::size_t>(status)]; }
  /// Cells that the means lack.
  std::size_t missing() const { return cells.size() - count(CellStatus::Completed); }
};

/// Cells as an experiment in one factor.
///
/// Cells at one level may differ in other factors: a *combination* is one choice of these, and
/// cells of two levels are compared within a combination. A leaf that never differs within a level,
/// as the second column of a `zip`, is no other factor: it moves with this one.
struct Design {
  std::string factor;                    // a leaf that the sweep varies; or `arm`, `tag`, `store`
  std::vector<ComparedGroup> groups;     // in the order of the file
  std::vector<std::string> others;       // leaves that vary within a group
  std::vector<std::string> moving_with;  // leaves that differ between groups only; of a leaf's
                                         // levels, not of arms
  std::vector<std::string> combination;  // by row of the listing: the choice of `others`, JSON
  std::string baseline_name;             // of a group; empty if the sweep has none
  std::optional<std::size_t> baseline;   // index of that group; nothing if no cell of it takes part

  bool of_arms() const { return factor == "arm" || factor == "tag" || factor == "store"; }
};

/// Names that a factor may have: arm, tag, store (of several stores), and the leaves that vary.
std::vector<std::string> factor_names(const Listing& listing);

/// Groups cells by a factor.
///
/// Arms without the leaf (of `include`) are groups of their own, after the levels.
/// @param rows      cells that take part. @param factor  one of factor_names().
/// @param baseline  level, arm or tag, or the beginning of exactly one of them; empty: that of the
///                  sweep's own baseline; where it has none (and for a leaf always) the first
///                  group, but no arm is taken that the sweep did not name.
/// @throws UserError (Usage) if no group or more than one is meant.
Design design_of(const Listing& listing, const std::vector<std::size_t>& rows,
                 const std::string& factor, std::string_view baseline = {});

/// The value of a leaf in a cell; null pointer if it does not read it, or the sweep never varies
/// it.
const Value* level_of(const Listing& listing, std::size_t row, std::string_view leaf);

}  // namespace depthgrid
