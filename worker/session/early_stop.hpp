#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cells/cell_set.hpp"
#include "core/train/evaluation.hpp"
#include "core/train/train_options.hpp"
#include "storage/cells/cell_history.hpp"
#include "sweeps/queue/lowest_loss.hpp"

namespace depthgrid {

/// Ends the training of cells whose dev loss has not fallen for `train.early_stop.patience`
/// evaluations. They are retired as completed.
class EarlyStop {
 public:
  /// Both outlive this.
  EarlyStop(const TrainOptions& options, CellSet& cells);

  /// Adds an evaluation. @param dev  (E), or empty without a dev split.
  /// @return  cells that stop here.
  std::vector<std::size_t> see(std::int64_t step, const std::vector<EvalResult>& dev);

  /// Replays the evaluations of cell e that earlier attempts recorded up to `last`.
  /// @return  the step after which the cell had stopped; nothing if it continues.
  std::optional<std::int64_t> replay(std::size_t e, const CellHistory& before, std::int64_t last);

  /// True if the evaluation after `step` was some cell's best so far.
  bool improved_at(std::int64_t step) const { return improved_at_ == step; }
  const LowestLoss& lowest(std::size_t e) const { return lowest_.at(e); }

 private:
  /// @return true if the cell stops.
  bool see(std::size_t e, std::int64_t step, double loss);

  const TrainOptions& options_;
  CellSet& cells_;
  std::vector<LowestLoss> lowest_;
  std::optional<std::int64_t> improved_at_;
};

}  // namespace depthgrid
