#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// Rows of text on which a model is trained or scored.
struct Batch {
  /// (E, B, T + 1) int64: inputs and, one further, targets; (1, B, T + 1): the same for all cells.
  at::Tensor windows;
  std::int64_t step = 0;       // training step, from 1: keys the draws
  std::int64_t first_row = 0;  // global row of the first row: keys the draws
  Control control = {};        // over the T inputs; undefined: nothing steers them
};

}  // namespace depthgrid
