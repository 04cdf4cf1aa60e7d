#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What a product A B^T of two tall matrices (n, r) does to vectors: r numbers each, the others of
/// the (n, n) product are 0. NaN if an entry is not finite.
struct ProductSpectrum {
  std::vector<double> singular;    // descending
  std::vector<double> real, imag;  // eigenvalues by descending modulus; of a pair, +i first
};

/// Never forms the product: singular values from the triangular factors of A and B, eigenvalues
/// from B^T A, both (r, r). On the host in float64.
/// @param a, b  (n, r), r <= n.
ProductSpectrum product_spectrum(const at::Tensor& a, const at::Tensor& b);

/// Largest singular value of a matrix, from the smaller of its two Gram matrices; NaN if an entry
/// is not finite.
double spectral_norm(const at::Tensor& matrix);

}  // namespace depthgrid
