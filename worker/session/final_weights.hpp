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
  std::string sha256;  // of the weights, from the cell's result
  ParameterLayout layout;
  std::vector<float> values;  // by layout
  /// (c) axes of a control signal whose maps, if any, were trained by one: noise elsewhere.
  std::vector<bool> signalled{};
};

/// Which axes of its control signal a cell's training moves, or that of the cells it starts from:
/// all of them under labels or prompts, and those of a constant u other than 0. Of weights from
/// files that nothing is known of, all.
/// @param start  the cell that `model.init.from` names; null pointer if there is none.
std::vector<bool> signalled_axes(const CellConfig& config,
                                 const std::function<CellConfig(const CellId&)>& start);

/// Reads the final weights of a cell.
using WeightsReader = std::function<FinalWeights(const CellId&)>;

/// Final weights of a completed cell of the store. Does not change the store.
/// @throws Error (concerning this cell only) if its checkpoint is gone or damaged, or holds weights
///         other than those named by the result.
FinalWeights final_weights(const Store& store, const StoredPlan& plan, const CellId& id);

/// Digest of the last weights of a completed cell. @throws StorageError without a valid result.
std::string last_weights_digest(const Store& store, const CellId& id);

/// Names, shapes and groups of a layout.
std::vector<TensorInfo> tensor_infos(const ParameterLayout& layout);

}  // namespace depthgrid
