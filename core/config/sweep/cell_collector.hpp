#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/digest.hpp"
#include "core/config/sweep.hpp"
#include "core/config/sweep/grid.hpp"
#include "core/config/sweep/matching.hpp"
#include "core/config/sweep/naming.hpp"
#include "core/config/sweep/start_cells.hpp"

namespace depthgrid {

/// Turns resolved arms into cells: one per seed, without duplicates.
///
/// A cell that starts from another is a draft without an id until finish(): its source may come
/// later in the grid.
class CellCollector {
 public:
  /// @param limit  most cells; exceeding it sets too_many().
  CellCollector(const SweepDocument& document, Grid& grid, Resolver& resolver,
                Diagnostics& diagnostics, const SweepRequest& request, std::uint64_t limit);

  /// @return false if no further arm is needed.
  bool take(const Arm& arm, const Slots& written);

  /// Resolves the cells that others start from, and reports problems.
  void finish();

  Matching matching;
  std::vector<CellPlan> cells;
  std::vector<SweepStart> starts;  // set by finish()

  std::size_t size() const { return cells.size(); }
  bool found_baseline() const { return found_baseline_; }
  bool too_many() const { return too_many_; }

 private:
  void set_identity(CellPlan& cell, const Slots& slots, std::string id) const;
  std::size_t resolve(const WaitingCell& waiting, std::size_t source);
  CellConfig::Delta delta(const Slots& slots) const;
  ValueMap overrides(const Slots& slots) const;
  void merge(Place place, const CellPlan& plan, std::size_t row, const Sha256& digest);
  std::string unique(const std::string& name);

  const SweepDocument& document_;
  Grid& grid_;
  Resolver& resolver_;
  Diagnostics& diagnostics_;
  std::uint64_t limit_;
  Naming naming_;
  Slots scratch_;
  std::shared_ptr<const ConfigBase> base_;
  std::unordered_map<std::string, std::size_t> rows_;  // id -> row
  std::vector<Sha256> digests_;
  std::unordered_set<std::string> names_;
  StartCells starts_;
  std::unordered_map<std::size_t, std::int64_t> depths_;  // row -> cells before it
  std::size_t merged_ = 0;
  bool found_baseline_ = false;
  bool too_many_ = false;
};

}  // namespace depthgrid
