#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Sums of products over all but the first two dimensions, one cell's and sequence's for itself.
/// @param a, b  (E, B, T, C). @return (E, B)
at::Tensor inner_product(const at::Tensor& a, const at::Tensor& b);

/// Where a symmetric map has its largest Rayleigh quotient within the Krylov space of a start, for
/// each cell and sequence: a unit vector, without gradients. Where numbers are not finite, it has
/// no meaning.
///
/// The same bits for a cell alone and among others. On a GPU it waits for the device.
/// @param symmetric  (E, B, T, C) -> (E, B, T, C). @param start  (E, B, T, C), not zero.
/// @param steps      of Lanczos: dimension of the space, less one. Each costs one product of the
///                   map; one more is needed in all.
/// Source: Lanczos (1950), J. Res. Nat. Bur. Standards 45, 255; with full reorthogonalisation.
at::Tensor dominant_direction(const std::function<at::Tensor(const at::Tensor&)>& symmetric,
                              const at::Tensor& start, std::int64_t steps);

}  // namespace depthgrid
