#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

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

/// What the weights of each depth step do, gates included: singular values and eigenvalues of
/// W_Q W_K^T and W_V W_O of each head, and the spectral norm of each type of weight. Needs no text.
///
/// W_Q W_K^T is the form that scores two tokens before rotary positions and the scale 1/sqrt(d_h);
/// W_V W_O is what a head writes of the token that it reads. Norms before the sublayer, biases and
/// a flow's α are left out. Absent (NaN) where a step has no such weight.
class WeightsProbe final : public Probe {
 public:
  /// @param subject  outlives the probe.
  WeightsProbe(const ProbeSubject& subject, ProbeSchedule schedule);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  struct Product {
    std::size_t singular = 0, real = 0, imag = 0;  // series
  };
  const ProbeSubject& subject_;
  ProbeSchedule schedule_;
  std::array<Product, 2> products_;  // QK, OV
  std::size_t norm_ = 0;
  std::size_t types_ = 0;  // of weight, those without a matrix here included
};

}  // namespace depthgrid
