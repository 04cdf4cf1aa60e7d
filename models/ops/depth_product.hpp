#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What a large generator makes of the hidden vectors of L nodes: y = m G + base, one pass over G
/// for all nodes.
///
/// The gradient of G is a sum of L outer products, Σ_l m_l ⊗ dy_l. It is added straight into
/// G.grad(): as a tensor of its own it would cost a write and a read of (E, h, N) more, and G is
/// most of a model that generates its weights. In float32 and float64 on a CPU the kernels are our
/// own, over blocks of entries: matrix products of LibTorch would be split among threads, and their
/// bits would depend on the number of threads.
/// @param generator  G, (E, h, N) leaf whose .grad is preset (an arena view), or any tensor without
///                   gradients.
/// @param base       (E, 1, N), as `generator`; may be undefined.
/// @param m          (E, L, h); cast to the dtype of `generator`.
/// @return           (E, L, N) in the dtype of `generator`.
/// @throws Error if a leaf that needs a gradient has none preset.
at::Tensor depth_product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m);

}  // namespace depthgrid
