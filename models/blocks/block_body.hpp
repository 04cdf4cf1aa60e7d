#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Projections (E, B, T, 3C) in, mixed values (E, B, T, C) out.
using Attend = std::function<at::Tensor(const at::Tensor&)>;

/// The normed state (E, B, T, C) in, the second sublayer's increment out.
using SecondSublayer = std::function<at::Tensor(const at::Tensor&)>;

/// Attn(N1 x), in the dtype of x. @param x (E, B, T, C)
at::Tensor attention_increment(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                               const Attend& attend);

/// Input of the second sublayer: x + h · attention for sequential sublayers, else x.
/// @param h  (E) step length.
at::Tensor second_input(const ModelOptions& o, const at::Tensor& x, const at::Tensor& h,
                        const at::Tensor& attention);

/// Up, activation, down. @param normed (E, B, T, C)
at::Tensor feed_forward(const ModelOptions& o, const BlockWeights& w, const at::Tensor& normed);

/// F of a block, as in BlockField, with the caller's attention and second sublayer.
at::Tensor block_body(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, const SecondSublayer& second);

}  // namespace depthgrid
