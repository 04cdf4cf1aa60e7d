#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/cells/cell_set.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/cell_optimizer.hpp"
#include "core/train/gradient_buckets.hpp"
#include "core/train/gradient_sync.hpp"
#include "core/train/objective.hpp"
#include "core/train/optimizer/arena.hpp"
#include "core/train/optimizer/layer_squares.hpp"
#include "core/train/train_options.hpp"

namespace depthgrid {

/// Result of one training step for each cell.
struct StepReport {
  std::vector<double> loss;   // (E) nats per token, mean over the global batch
  std::vector<double> total;  // (E) what was minimised: loss and the objective's other terms
  std::vector<std::vector<double>> parts;  // (E) each, Objective::loss_parts() unweighted
  std::vector<std::uint8_t> nonfinite;     // (E) loss or gradient; the update was masked
  CellOptimizer::Report optimizer;
  LayerNorms layers;  // empty unless the trainer watches layers
};

/// Runs optimiser steps over E fused cells and the R ranks of a team.
///
/// Each rank takes its share of the global batch, in micro-batches; losses are divided by the
/// tokens of the global batch before summation, so gradients add up over micro-batches and ranks to
/// those of the whole batch. A cell whose loss or gradient is not finite, or whose loss exceeds its
/// bound, is retired as diverged: it keeps its bits, the other cells continue.
class Trainer {
 public:
  /// All references must outlive the trainer.
  Trainer(Objective& objective, Arena& arena, CellOptimizer& optimizer, const BatchSource& batches,
          GradientSync& sync, CellSet& cells, const TrainOptions& options);

  /// @param step  from 1.
  StepReport step(std::int64_t step);

  /// From now on reports have the norms of layers, which costs a pass over their gradients.
  void watch(LayerSquares layers) { layers_ = std::move(layers); }

 private:
  /// This rank's losses over tokens of the global batch, rows of (2 + parts, E): loss, total,
  /// parts; gradients go to the arena.
  at::Tensor accumulate(std::int64_t step);

  Objective& objective_;
  Arena& arena_;
  CellOptimizer& optimizer_;
  const BatchSource& batches_;
  GradientSync& sync_;
  GradientBuckets buckets_;
  CellSet& cells_;
  const TrainOptions& options_;
  std::optional<LayerSquares> layers_;
};

}  // namespace depthgrid
