#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What a large generator makes of the hidden vectors of L nodes: y = m Gᵀ + base, one pass over G
/// for all nodes.
///
/// The gradient of G is a sum of L outer products, Σ_l dy_l ⊗ m_l. It is added straight into
/// G.grad(), cell by cell: as a tensor of its own it would cost a write and a read of (E, N, h)
/// more, and G is most of a model that generates its weights.
/// @param generator  G, (E, N, h) leaf whose .grad is preset (an arena view), or any tensor without
///                   gradients.
/// @param base       (E, 1, N), as `generator`; may be undefined.
/// @param m          (E, L, h), in the dtype of `generator`.
/// @return           (E, L, N)
/// @throws Error if a leaf that needs a gradient has none preset.
at::Tensor depth_product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m);

}  // namespace depthgrid
