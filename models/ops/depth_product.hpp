#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Applies a large generator to the hidden vectors of L nodes: y = m G + base, in one pass over G.
///
/// The gradient of G is a sum of L outer products, Σ_l m_l ⊗ dy_l. It is added directly to
/// G.grad(): a separate tensor would cost another write and read of (E, h, N), and G is most of a
/// model with generated weights. In float32 on the CPU by kernels that work on blocks of entries:
/// LibTorch's products, which serve float64, are split among threads, so that bits may depend on
/// their number.
/// @param generator  G, (E, h, N) leaf whose .grad is preset (an arena view), or any tensor without
///                   gradients.
/// @param base       (E, 1, N), like `generator`; may be undefined.
/// @param m          (E, L, h), cast to the dtype of `generator`.
/// @return           (E, L, N) in the dtype of `generator`.
/// @throws Error if a leaf that needs a gradient has none preset.
at::Tensor depth_product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m);

}  // namespace depthgrid
