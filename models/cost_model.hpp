#pragma once

#include <cstdint>

#include "core/train/parameter_layout.hpp"
#include "models/model_options.hpp"

namespace depthgrid {

/// Forward floating-point operations per token of one cell: matrix products, attention over a
/// window of `tokens` (full square; multiply and add counted apart) and recurrences. Training costs
/// three times it. Weights that are generated are generated once a pass, whatever its tokens: their
/// operations are shared out among them.
/// @param rows  sequences of a pass.
double flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Bytes of activations that one training step of one cell keeps for the way back, by the tensors
/// that the graph holds. @param rows  sequences on this rank and micro-batch.
double activation_bytes(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Parameters of the unrolled network: a block shared by L depths, or by the
/// evaluations of a flow, counts as often, and generated
/// weights count in place of what generates them.
std::int64_t effective_parameters(const ModelOptions& o, const ParameterLayout& layout);

}  // namespace depthgrid
