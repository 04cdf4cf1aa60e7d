#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Looks up rows of each cell's table.
///
/// Gradients are added directly to table.grad(), in the order of the tokens: a dense gradient would
/// cost a pass over (E, V, C) in every step.
/// @param table  (E, V, C) leaf whose .grad is preset (an arena view), or any tensor without
///               gradients.
/// @param ids    (E, B, T) int64 in [0, V).
/// @return       (E, B, T, C)
/// @throws Error if a table that needs a gradient has none preset.
at::Tensor cell_embedding(const at::Tensor& table, const at::Tensor& ids);

}  // namespace depthgrid
