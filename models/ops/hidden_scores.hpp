#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Attention scores with those that a query must not see at minus infinity: masked_fill, with its
/// bits. Without gradients, on the host and in float32, `scores` itself is overwritten in one pass.
/// @param scores  (n, H, T, T), whose values the caller does not need any more.
/// @param hidden  (T, T) or (n, 1, T, T) bool: true where the score does not count.
at::Tensor with_hidden(const at::Tensor& scores, const at::Tensor& hidden);

}  // namespace depthgrid
