#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Sum of the next-token losses of each cell over this rank's rows.
///
/// The caller divides by the tokens of the whole step, so that parts of a batch (micro-batches,
/// ranks) add up to its mean. Rows are summed in double precision, in order.
/// @param logits   (E, B, T, V) float32 or float64; with gradients enabled its memory is reused.
/// @param targets  (E, B, T) int64 in [0, V).
/// @return         (E) nats, in the dtype of logits.
at::Tensor cell_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

/// Loss of every token, without gradients; inputs as above. @return (E, B, T) float32, nats.
at::Tensor token_losses(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace depthgrid
