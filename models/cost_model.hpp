#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/facts/student_flops.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Floating-point operations per token of one cell's forward pass, if all layers execute every
/// token: matrix products, attention over a window of `tokens` (full square; a multiply-add is two)
/// and recurrences; not embeddings, norms, activations and sums. Generated weights are computed
/// once per pass; their cost is divided by its tokens. Layers that may skip tokens count with their
/// block and the factor of its increment (mod: σ of the router, 2C), without the decision.
/// @param rows  sequences per pass.
double flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// The same by what computes them; their sum is flops_per_token().
struct ForwardFlops {
  double layers = 0;   // ordinary blocks, with the networks that generate their weights
  double flow = 0;     // in place of layers
  double readout = 0;  // the head
};
ForwardFlops forward_flops(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// The same for a student whose dynamic layers execute a share r of the tokens. For every token of
/// these layers a router (tdt: 4C) or a predictor (mod: 2(Ch + h), h its hidden width) decides, and
/// mod computes its gate. Only executed tokens pass through the block, and attend only to executed
/// tokens: r² of a dense layer's attention. The teacher (transition network, surprise) is left out.
/// Source: third study, section 4; operations per token Σ exec · (8C² + … + 4C n_kv) + 4C.
StudentFlops student_flops(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Target share of tokens that dynamic layers of cell e execute: k / T with k = ⌊γT + 1e-9⌋, at
/// least `min_k`; 1 for a family whose layers execute every token.
double capacity_share(const ModelOptions& o, std::int64_t tokens, std::size_t e);

/// Operations per token of what a training pass evaluates again because of `model.gradient.mode`,
/// the same share of the depth as of its steps, and of regularisers. 0 for a plain gradient without
/// them. @param forward  operations per token of the forward pass.
double recomputed_flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens,
                                  double forward);

/// Operations per token of a training step of cell e: three times the forward pass, and what is
/// evaluated again; parts without gradients count once. All computed work counts, used or not:
/// masked layers run over every token (r = 1), gathered ones over k of T. tdt adds its transition
/// network (6C times its width), and its gated paths add the teacher's dense pass (once, or three
/// times if gradients enter it). Dense first steps are counted like all others.
double training_flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens,
                                std::size_t e);

/// Bytes of activations that one training step of one cell saves for the backward pass, from the
/// tensors that the graph holds. @param rows  sequences on this rank and micro-batch.
double activation_bytes(const ModelOptions& o, std::int64_t rows, std::int64_t tokens);

/// Parameters of the unrolled network: a block shared by L depths, or by the evaluations of a flow,
/// counts that many times; generated weights count in place of their generators.
std::int64_t effective_parameters(const ModelOptions& o, const ParameterLayout& layout);

}  // namespace depthgrid
