#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Identity of a cell's configuration: a checkpoint of a different one is never loaded.
std::string config_digest(const CellConfig& config);
/// The same for a cell of a stored plan. @param changed  StoredCell::changed
std::string config_digest(const std::string& changed);

/// Leaves `checkpoint.*`: when to write one, and which steps are kept for good.
///
/// `every_seconds: auto` bounds both what a crash costs and what checkpoints cost: the first one
/// comes soon, each further one once a hundred times the duration of the last has passed. When they
/// are written changes no number.
class CheckpointPolicy {
 public:
  CheckpointPolicy(const CellConfig& run, std::int64_t steps, const Clock& clock = real_clock());

  /// True after `step`: at multiples of `every`, at kept steps, or when `every_seconds` have
  /// passed.
  bool due(std::int64_t step) const;

  /// A checkpoint was written just now. @param cost  s that the checkpoints of all cells took.
  void written(double cost);

  int keep_last() const noexcept { return keep_last_; }
  bool keeps_best() const noexcept { return keep_best_ > 0; }

  /// Steps that are kept when a cell is done: `keep_at`, the best of `improved`, the last one.
  /// @param improved  steps of evaluations that were the best so far, in order.
  /// @param last      last step made.
  std::vector<std::int64_t> kept(const std::vector<std::int64_t>& improved,
                                 std::int64_t last) const;

 private:
  std::optional<std::int64_t> every_;
  std::optional<double> wait_;  // s after the last one; none: step by step
  bool by_cost_;
  int keep_last_;
  std::int64_t keep_best_;
  bool keep_final_;
  std::vector<std::int64_t> keep_at_;
  const Clock& clock_;
  double last_;  // time of it, or of the beginning
};

}  // namespace depthgrid
