#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/config/sweep/grid.hpp"

namespace depthgrid {

/// Counts what a CellCollector would collect, without keeping the cells.
class CellCounter {
 public:
  /// @param limit  most cells; exceeding it sets too_many().
  CellCounter(const SweepDocument& document, Grid& grid, ValuePool& pool, Diagnostics& diagnostics,
              std::uint64_t limit);

  /// @return false if no further arm is needed.
  bool take(const Arm& arm, const Slots& resolved);

  /// False if the cells themselves are needed: some are equal, or start from trained weights.
  bool conclusive();

  std::size_t size() const { return ids_.size(); }
  std::size_t structures() const { return structures_.size(); }
  bool found_baseline() const { return found_baseline_; }
  bool too_many() const { return too_many_; }

 private:
  const SweepDocument& document_;
  Grid& grid_;
  ValuePool& pool_;
  Diagnostics& diagnostics_;
  std::uint64_t limit_;
  Slots scratch_;
  std::vector<std::uint64_t> ids_;  // the first 8 bytes of each cell's digest
  std::set<std::string> structures_;
  bool found_baseline_ = false;
  bool starts_ = false;
  bool too_many_ = false;
};

}  // namespace depthgrid
