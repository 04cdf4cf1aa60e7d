#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/cell_config.hpp"
#include "core/train/cell_optimizer.hpp"
#include "core/train/optimizer/arena.hpp"
#include "core/train/train_options.hpp"
#include "models/cell_language_model.hpp"
#include "models/model.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// E cells of equal structure as one model with arena and optimiser, as trained by a job.
struct FusedModel {
  /// @param cells   configurations of equal structure; cell e starts as it would alone.
  /// @param device  of all tensors; on a GPU the optimiser's kernels come from the plug-in.
  /// @param team    of the ranks that train it; null: this one. With leaf
  ///                resources.shard_optimizer the moments are divided among them. Outlives this.
  FusedModel(const std::vector<const CellConfig*>& cells, at::Device device,
             GradientSync* team = nullptr);

  ModelOptions options;
  TrainOptions train;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Model> model;
  std::unique_ptr<CellLanguageModel> language;
  std::unique_ptr<CellOptimizer> optimizer;
};

/// Slots of a structure's parameters; allocates no values.
ParameterLayout layout_of(const ModelOptions& options);

/// Puts leaf resources.threads in force. @return  it.
std::int64_t use_threads(const CellConfig& config);

/// Number of cells beyond which fusing is no longer efficient on this device: on a CPU small
/// matrices gain from batching, while large ones occupy a core alone and batching only wastes
/// cache.
std::int64_t automatic_fuse(const ModelOptions& options, std::int64_t rows, std::int64_t tokens,
                            at::Device device);

/// Predicts the memory of one fused job of this structure; cost.parameters must be known.
void set_memory(StructureCost& cost, const ModelOptions& options, const CellConfig& config);

}  // namespace depthgrid
