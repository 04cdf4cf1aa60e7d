#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/continuous_depth.hpp"
#include "core/probe/probe_set.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"
#include "models/wide_model.hpp"

namespace depthgrid {

/// Steps of the part of a model's depth that discretises one field of depth-time; 0 if there is
/// none. A flow is such a part; so is the whole depth of a family whose layers share their
/// parameters (time-indexed or generated weights, or one block for all): its steps
/// x <- x + Δt F(x, t) are Euler's of dx/dt = L Δt F(x, t). Layers with parameters or step lengths
/// of their own have no field between them, and layers that skip tokens have none at all.
std::int64_t continuous_steps(const ModelOptions& o);

/// That part of a model, with a copy of its weights in float64.
///
/// A sequential block depends on the step's length h: F(x) = a + FFN(x + h a), a = Attn(x). Its
/// steps are those of a splitting of the field with h = 0, and converge to its solution.
class ContinuousModel final : public ContinuousDepth {
 public:
  /// @param arena  the parameters of `model`. @param set  must outlive this.
  /// @throws Error if there is no such part.
  ContinuousModel(const Model& model, const Arena& arena, const ProbeSet& set);

  std::int64_t steps() const override;
  const VectorField& field() const override { return *limit_; }
  at::Tensor start(std::int64_t first, std::int64_t count) const override;
  at::Tensor own(const at::Tensor& x) const override;
  at::Tensor euler(const at::Tensor& x, std::int64_t steps) const override;
  at::Tensor finish(const at::Tensor& x) const override;
  at::Tensor logits(const at::Tensor& x) const override;

 private:
  at::Tensor advance(const at::Tensor& x, std::size_t from, std::size_t to) const;

  const ProbeSet& set_;
  ForwardContext context_;
  WideModel wide_;
  const Model& model_;  // in it
  std::vector<DepthSegment> segments_;
  std::size_t at_ = 0;  // the part's segment
  FieldPtr inner_;      // if the part is no flow
  FieldPtr euler_;      // reads the step's length
  FieldPtr limit_;      // takes it as zero
  at::Tensor shift_;    // (E) of Euler's nodes, in steps: 0 left, 1 right
};

}  // namespace depthgrid
