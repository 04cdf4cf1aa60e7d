#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

enum class NormKind : std::uint8_t { Layer, Rms };

/// y = x_hat * scale + shift, where x_hat is x normalised over the channels of each token.
///
/// Layer: x_hat = (x - mean) / sqrt(var + eps). Rms: x_hat = x / sqrt(mean(x^2) + eps).
/// Gradients of scale and shift are summed over fixed blocks of a cell's rows, so that they depend
/// neither on the thread count (as those of at::layer_norm do) nor on other cells. One pass forward
/// and one backward on the CPU.
/// @param x      (E, B, T, C) float32 or float64.
/// @param scale  (E, C), or undefined for 1.
/// @param shift  (E, C), or undefined for 0.
/// @param eps    (E).
/// @return       (E, B, T, C)
/// Source: Ba, Kiros & Hinton (2016), arXiv 1607.06450, eq. 3; Zhang & Sennrich (2019), NeurIPS,
/// eq. 4.
at::Tensor per_cell_norm(NormKind kind, const at::Tensor& x, const at::Tensor& scale,
                         const at::Tensor& shift, const std::vector<double>& eps);

/// sum_c x_hat_c w_jc for every token, without gradient: x_hat is never materialised.
/// @param w  (E, J, C), like x. @param eps  (E). @return (E, B, T, J)
at::Tensor normed_products(NormKind kind, const at::Tensor& x, const at::Tensor& w,
                           const std::vector<double>& eps);

}  // namespace depthgrid
