#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Makes numbers agree between the R ranks of a team. core/ knows only this; distributed/
/// implements it over a Collective; NoSync, a team of one, is the ordinary case.
///
/// Every call is collective: all ranks of the team make it, in the same order, with equal shapes.
class GradientSync {
 public:
  virtual ~GradientSync() = default;

  /// Position in the team, and R.
  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;

  /// Replaces `x` (any shape, contiguous, float32 or float64) by its sum over the ranks, in place;
  /// the optimiser folds 1/R in. Summed in rank order, so that all ranks get the same bits in every
  /// run, and the bits of one rank that accumulates R micro-batches one after another.
  /// @throws BackendError if a peer is lost.
  virtual void sum(at::Tensor& x) = 0;

  /// The largest `value` of the team: how ranks agree to stop (a signal reaches them at different
  /// steps) or that one of them failed.
  virtual std::int64_t largest(std::int64_t value) = 0;
};

/// A team of one: everything is the identity.
class NoSync final : public GradientSync {
 public:
  int rank() const noexcept override { return 0; }
  int ranks() const noexcept override { return 1; }
  void sum(at::Tensor&) override {}
  std::int64_t largest(std::int64_t value) override { return value; }
};

}  // namespace depthgrid
