#pragma once

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Elementwise, except Swiglu, which halves the last dimension: silu(a) * b for x = [a, b].
/// Source: Hendrycks & Gimpel (2016), arXiv 1606.08415; Shazeer (2020), arXiv 2002.05202.
at::Tensor activate(Activation kind, const at::Tensor& x);

/// 1 / (1 + exp(-x)), computed by tanh: at::sigmoid handles the vectorised tail differently, so a
/// cell's bits would depend on its neighbours.
at::Tensor logistic(const at::Tensor& x);

/// Factor of a weight from a gate network's output: σ(g), 1 + tanh g, or g itself.
at::Tensor squash(GateKind kind, const at::Tensor& g);

}  // namespace depthgrid
