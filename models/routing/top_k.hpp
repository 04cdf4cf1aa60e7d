#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/facts/gathered_execution.hpp"
#include "models/options/routing_options.hpp"

namespace depthgrid {

/// Tokens k to execute per sequence, for each cell. @return (E)
std::vector<std::int64_t> capacities(const RoutingOptions& o, std::int64_t tokens);

/// The k[e] highest scores of each sequence of cell e; ties go to earlier tokens.
/// @param score  (E, B, T), detached.
/// @param k      (E)
/// @return       (E, B, T) bool; exactly k[e] per sequence.
at::Tensor top_k_mask(const at::Tensor& score, const std::vector<std::int64_t>& k);

/// Largest difference of two predicted scores due to rounding alone. Tokens with equal states (the
/// same token, repeated, at the start of a text) have equal scores, but the rounding of a product
/// depends on the number of tokens processed at once; a student's choice must not depend on it.
/// @param score  any shape. @return its shape and dtype: 1e-5 (float64: 1e-13) times max(1,
/// |score|)
at::Tensor tie_width(const at::Tensor& score);

/// Token t is executed if fewer than k(t) = capacity_of(γ, t) of the preceding tokens score at
/// least as high, up to tie_width(). Decisions are causal and never revised.
/// @param score    (E, B, T), detached.
/// @param earlier  (E, B, n) scores of preceding tokens; undefined: none.
/// @return         (E, B, T) bool
at::Tensor running_top_k_mask(const RoutingOptions& o, const at::Tensor& score,
                              const at::Tensor& earlier = {});

/// x of the previous token; zeros, or `first`, for the first one.
/// @param x      (E, B, T, ...)
/// @param first  (E, B, 1, ...), or undefined for zeros.
/// @return       (E, B, T, ...)
at::Tensor previous_tokens(const at::Tensor& x, const at::Tensor& first = {});

}  // namespace depthgrid
