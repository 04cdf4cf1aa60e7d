#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/gathered_execution.hpp"
#include "models/options/routing_options.hpp"

namespace depthgrid {

/// capacity_of each cell. @return (E)
std::vector<std::int64_t> capacities(const RoutingOptions& o, std::int64_t tokens);

/// The k[e] highest scores of each sequence of cell e; of equal ones those that come first.
/// @param score  (E, B, T), without a graph.
/// @param k      (E)
/// @return       (E, B, T) bool; exactly k[e] a sequence.
at::Tensor top_k_mask(const at::Tensor& score, const std::vector<std::int64_t>& k);

/// How far apart two predicted scores are that differ by rounding alone. Tokens with equal states
/// (the same token, several times, at the start of a text) have equal scores, but a product rounds
/// with the number of tokens that come at once; a student must not decide by that.
at::Tensor tie_width(const at::Tensor& score);

/// Token t is executed if fewer than k(t) = capacity_of(γ, t) of the tokens before it score as
/// high, or less by no more than tie_width(): decided when it comes, never revised.
/// @param score    (E, B, T), without a graph.
/// @param earlier  (E, B, n) scores of the tokens in front of the first one; undefined: none.
/// @return         (E, B, T) bool
at::Tensor running_top_k_mask(const RoutingOptions& o, const at::Tensor& score,
                              const at::Tensor& earlier = {});

/// x of the token before; zeros, or `first`, before the first one.
/// @param x      (E, B, T, ...)
/// @param first  (E, B, 1, ...), or undefined for zeros.
/// @return       (E, B, T, ...)
at::Tensor previous_tokens(const at::Tensor& x, const at::Tensor& first = {});

}  // namespace depthgrid
