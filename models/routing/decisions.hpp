#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/context/forward_context.hpp"
#include "models/options/routing_options.hpp"

namespace depthgrid {

/// Executes tokens with a score strictly above a threshold.
/// @param score      (E, B, T). @param threshold (E) in the unit of the score. @return bool
at::Tensor above(const at::Tensor& score, const at::Tensor& threshold);

/// A student's causal decisions.
/// @param logits   (E, B, T) of the router before the block.
/// @param dynamic  index of the layer among those that skip.
/// @param earlier  (E, B, n) logits of preceding tokens; undefined: none.
/// @return         (E, B, T) bool. A calibrated decider without thresholds uses the fixed one.
/// Source: third study, section 4.1.
at::Tensor student_mask(const RoutingOptions& o, const Execution& execution,
                        const at::Tensor& logits, std::int64_t dynamic,
                        const at::Tensor& earlier = {});

/// Each token with probability γ: a function of layer, row and position only.
/// @param like  (E, B, T), for its shape and device. @param layer  of the model, from 0.
/// @param first_row  index of the first of the B rows among all rows of the pass.
/// @return (E, B, T) bool
at::Tensor random_mask(const RoutingOptions& o, const at::Tensor& like, std::int64_t layer,
                       std::int64_t first_row);

/// The mask of a layer in `execution.forced`. @throws ShapeError unless it fits.
/// @return (E, B, T) bool
at::Tensor forced_mask(const Execution& execution, const at::Tensor& like, std::int64_t layer);

/// Adds each sequence's first token if it is always executed. @param mask  (E, B, T) bool.
at::Tensor with_first(const RoutingOptions& o, const at::Tensor& mask);

}  // namespace depthgrid
