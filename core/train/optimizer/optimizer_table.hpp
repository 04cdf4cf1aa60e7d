#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/train/optimizer/update_rule.hpp"

namespace depthgrid {

/// One optimiser.
struct OptimizerRow {
  std::string_view word;                      ///< of `train.optimizer`
  std::span<const std::string_view> moments;  ///< names of the rows that it keeps, as checkpoints
                                              ///< write them; each starts at zero
  std::span<const std::string_view> scalars;  ///< its own leaves, one number each
  std::unique_ptr<UpdateRule> (*make)();
};

/// All optimisers. Their GPU kernels: distributed/cuda/cuda_kernels.cpp.
std::span<const OptimizerRow> optimizer_rows();

/// @throws Error if no row has this word.
const OptimizerRow& optimizer_row(std::string_view word);

}  // namespace depthgrid
