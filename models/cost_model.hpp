#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/student_flops.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Forward floating-point operations per token of one cell whose layers execute every token:
/// matrix products, attention over a window of `tokens` (full square; multiply and add counted
/// apart) and recurrences; not embeddings, norms, activations and sums. Weights that are generated
/// are generated once a pass, whatever its tokens: their operations are shared out among them.
/// Of layers that may skip tokens, the block and what its increment is multiplied by (mod: σ of the
/// router, 2C), not what decides.
/// @param rows  sequences of a pass.
double flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// The same of a student, whose dynamic layers execute a share r of the tokens. A router decides
/// about every token of these layers (tdt: 4C) or a predictor (mod: 2(Ch + h), h its hidden width),
/// and mod's gate is computed of every token, too. The products of a block are those of executed
/// tokens; these attend to executed tokens alone, hence r² of a dense layer's attention. What only
/// a teacher needs (transition network, surprise) is no part of it.
/// Source: third study, section 4; its operations a token, Σ exec · (8C² + … + 4C n_kv) + 4C.
StudentFlops student_flops(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Share of the tokens that dynamic layers of cell e are to execute: k / T with k = ⌊γT + 1e-9⌋ or
/// `min_k`; 1 of a family whose layers execute every token.
double capacity_share(const ModelOptions& o, std::int64_t tokens, std::size_t e);

/// Operations per token of a training step of cell e: three times the forward pass, a part without
/// a graph once. What is computed counts, not what is kept of it: masked layers run over every
/// token (r = 1), gathered ones over k of T. The gated paths of tdt have the dense pass of the
/// teacher beside the other (once, or three times where gradients enter it), tdt its transition
/// network (6C times its width). Steps of a dense start count like those behind it.
double training_flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens,
                                std::size_t e);

/// Bytes of activations that one training step of one cell keeps for the way back, by the tensors
/// that the graph holds. @param rows  sequences on this rank and micro-batch.
double activation_bytes(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Parameters of the unrolled network: a block shared by L depths, or by the
/// evaluations of a flow, counts as often, and generated
/// weights count in place of what generates them.
std::int64_t effective_parameters(const ModelOptions& o, const ParameterLayout& layout);

}  // namespace depthgrid
