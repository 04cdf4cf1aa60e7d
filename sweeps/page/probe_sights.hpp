#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "storage/cells/cell_profile.hpp"
#include "storage/cells/token_mask.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// What a row of probe_pictures() shows of one arm: means over its seeds.
struct ArmSight {
  std::size_t arm = 0;                         // its number, of the rows of Comparison::effects
  std::size_t seeds = 0;                       // cells that have the variable
  std::size_t partial = 0;                     // measurements that only some have: left out
  double first_step = kNaN, last_step = kNaN;  // range of the cells' CellProfile::step
  std::vector<double> at;                      // (n) as CellProfile
  std::vector<std::string> names, lines;       // (n), (m)
  /// (m, n) NaN where some seed has no number, so that each is of the same seeds.
  std::vector<double> mean, low, high;
};

/// The masks of a cell, and the texts of the tokens where the page may have them.
struct SeenMask {
  std::size_t arm = 0;
  std::size_t row = 0;  // of the listing
  TokenMask mask;
  std::vector<std::string> tokens = {};  // (T), or empty
};

/// What the probes saw of a sweep, of a bounded number of cells.
struct ProbeSights {
  std::vector<std::vector<ArmSight>> pictures;  // by row of probe_pictures(); arms that have it
  std::vector<SeenMask> masks;   // first sequence of the probe set, first seed of a few arms
  std::string no_tokens;         // why masks have no texts; empty: they have, or nobody asked
  std::size_t arms = 0;          // of the sweep
  std::size_t arms_read = 0;     // the first ones
  std::size_t most_cells = 0;    // of an arm, that are read
  std::size_t unread_cells = 0;  // completed ones of these arms beyond that
};

/// Means over cells that are one arm's seeds. Lines and entries of the axis are those that all of
/// them have, in the order of the first. @param cells  at least one.
ArmSight sight_of(std::size_t arm, const std::vector<CellProfile>& cells);

/// Reads the completed cells. What cannot be read is left out: its damage is named where the cell
/// is. @param groups  arms.
ProbeSights probe_sights(const Listing& listing, const std::vector<ComparedRow>& groups);

}  // namespace depthgrid
