#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Reductions over the R ranks of a team. core/ knows only this interface; distributed/ implements
/// it over a Collective; NoSync is a team of one.
///
/// Every call is collective: all ranks of the team make it, in the same order, with equal shapes.
class GradientSync {
 public:
  virtual ~GradientSync() = default;

  /// Rank in the team, and R.
  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;

  /// Replaces `x` by its sum over the ranks: float32 or float64; contiguous in any shape, or a
  /// matrix whose rows are, such as columns of an arena. Nothing is divided by R: losses are, by
  /// the tokens of the global batch, before they are summed. Summed in rank order: all ranks get
  /// the same bits in every run, equal to those of one rank that accumulates R micro-batches.
  /// @throws BackendError if a peer is lost; ShapeError for another kind of tensor.
  virtual void sum(at::Tensor& x) = 0;

  /// Begins sum(x), beside what this process goes on to compute where the team can do that. `x`,
  /// and this object, must not be used before finish_sums(). Begun in the same order on all ranks.
  virtual void begin_sum(const at::Tensor& x) = 0;

  /// Returns once all sums that were begun are there. @throws as sum().
  virtual void finish_sums() = 0;

  /// Replaces `x` (contiguous, float32 or float64) by that of rank `root`.
  /// @throws BackendError if a peer is lost.
  virtual void broadcast(at::Tensor& x, int root) = 0;

  /// The team's largest `value`: how ranks agree to stop (a signal reaches them at different steps)
  /// or that one of them failed.
  virtual std::int64_t largest(std::int64_t value) = 0;
};

/// A team of one: every call is the identity.
class NoSync final : public GradientSync {
 public:
  int rank() const noexcept override { return 0; }
  int ranks() const noexcept override { return 1; }
  void sum(at::Tensor&) override {}
  void begin_sum(const at::Tensor&) override {}
  void finish_sums() override {}
  void broadcast(at::Tensor&, int) override {}
  std::int64_t largest(std::int64_t value) override { return value; }
};

}  // namespace depthgrid
