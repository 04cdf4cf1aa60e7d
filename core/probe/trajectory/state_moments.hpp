#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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

/// Second moments of the states of one cell over all tokens, at each depth and between depths.
class StateMoments {
 public:
  virtual ~StateMoments() = default;

  /// @param x  (L + 1, T, C) double, finite, on any device: the states of T further tokens
  virtual void add(const at::Tensor& x) = 0;

  /// (L + 1, k, k): by depth a matrix whose eigenvalues, apart from zeros, are the squared singular
  /// values of the matrix of tokens less their mean. k is the smaller of tokens and channels.
  virtual at::Tensor scatters() const = 0;

  /// Between all depths, on the host; see debiased_cka(). Shifts of the states do not change it.
  virtual GramSums gram_sums() const = 0;
};

/// Moments from the states themselves, kept in single precision on the host: for models so wide and
/// deep that C x C sums between all pairs of depths are larger. One pair of depths is summed up at
/// a time; the numbers are those of FeatureMoments up to rounding.
class StoredStates final : public StateMoments {
 public:
  void add(const at::Tensor& x) override;
  at::Tensor scatters() const override;
  GramSums gram_sums() const override;

 private:
  at::Tensor states_of(std::int64_t depth) const;

  std::vector<at::Tensor> blocks_;  // (D, T, C) float, host; what is probed is computed as float
  at::Device device_ = at::kCPU;    // where sums are made
};

/// Sums over channels (FeatureMoments); with fewer tokens than channels over tokens (TokenGrams);
/// where sums over channels between all pairs of depths would take more than half a gibibyte, the
/// states themselves (StoredStates).
/// @param depths  L + 1
/// @param tokens  that add() will see in all
/// @param pairs   gram_sums() will be asked for
std::unique_ptr<StateMoments> make_state_moments(std::int64_t depths, std::int64_t tokens,
                                                 std::int64_t channels, bool pairs);

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

/// How many directions a cloud of tokens fills: numbers between 1 and the rank of the matrix of
/// tokens, less their mean, with the singular values s_i.
struct Spectrum {
  /// exp(-sum p_i ln p_i), p_i = s_i / sum s. Roy and Vetterli 2007, "The effective rank".
  double effective_rank = std::numeric_limits<double>::quiet_NaN();

  /// (sum s_i^2)^2 / sum s_i^4.
  double participation_ratio = std::numeric_limits<double>::quiet_NaN();
};

/// @param scatter  (k, k) double, symmetric, on any device: its eigenvalues are the s_i^2, apart
///                 from zeros. Those below k times the rounding of a double of the largest count as
///                 0.
/// @return NaN for a matrix of zeros or with non-finite entries.
Spectrum spectrum_of(const at::Tensor& scatter);

}  // namespace depthgrid
