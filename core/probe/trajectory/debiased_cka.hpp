#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Sums over pairs of different tokens, for D sets of states of the same n tokens. K_a is the n x n
/// matrix of inner products of set a, with zeros on its diagonal; 1 is a vector of n ones.
struct GramSums {
  at::Tensor trace;  // (D, D) tr(K_a K_b)
  at::Tensor cross;  // (D, D) 1' K_a K_b 1
  at::Tensor total;  // (D) 1' K_a 1
};

/// Linear centred kernel alignment HSIC(a, b) / sqrt(HSIC(a, a) HSIC(b, b)) with the unbiased
/// estimator of Song et al. 2012 ("Feature selection via dependence maximization", equation 5),
///   HSIC_1 = (tr(K_a K_b) + 1'K_a 1 1'K_b 1 / ((n - 1)(n - 2)) - 2 1'K_a K_b 1 / (n - 2)) / (n(n -
///   3)).
/// About 0 for independent states, where the biased formula grows with channels per token; it may
/// be slightly negative.
/// @param sums    double, host
/// @param tokens  n > 3
/// @return (D, D) row-major; NaN with a set whose HSIC with itself is not positive
std::vector<double> debiased_cka(const GramSums& sums, std::int64_t tokens);

}  // namespace depthgrid
