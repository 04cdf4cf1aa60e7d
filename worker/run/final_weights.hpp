#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// The last weights of a cell that others start from.
struct FinalWeights {
  StoredCell cell;
  std::int64_t step = 0;
  std::string sha256;  // of the weights, as the cell's result says
  ParameterLayout layout;
  std::vector<float> values;  // by layout
};

/// How a cell's id becomes weights.
using WeightsReader = std::function<FinalWeights(const CellId&)>;

/// Weights that a completed cell of the store has ended with. Nothing in the store is changed.
/// @throws Error (of this cell only: others are not concerned) if its checkpoint is gone or
///         damaged, or holds other weights than the result speaks of.
FinalWeights final_weights(const Store& store, const StoredPlan& plan, const CellId& id);

/// Digest of the last weights of a completed cell. @throws StorageError without a sound result.
std::string last_weights_digest(const Store& store, const CellId& id);

/// Names, shapes and groups of a layout.
std::vector<TensorInfo> tensor_infos(const ParameterLayout& layout);

}  // namespace depthgrid
