#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// The negative control: m random layers that have nothing in common, as a field that is constant
/// between τ = i/m and (i + 1)/m: G_i(x) = s W_i tanh(V_i x/RMS(x)), token by token. A residual
/// network is just that, so a measure of continuity that passes here means nothing.
///
/// The layers are the same for all cells; the speed s is each cell's own.
class IndependentLayers final : public VectorField {
 public:
  /// @param like  a state (E, B, T, C), double: sizes and device.
  IndependentLayers(std::int64_t layers, const at::Tensor& like);

  /// Chooses the speeds so that solve() moves `x` by this much, within a hundredth; a speed that
  /// cannot be found is NaN. @param displacement  (E) Frobenius norms.
  void match(const at::Tensor& x, const std::vector<double>& displacement);

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override;

  /// State at τ = 1, layer by layer, each by steps too small to matter.
  at::Tensor solve(const at::Tensor& x) const;

 private:
  std::int64_t layers_;
  std::vector<at::Tensor> in_, out_;  // V and W, (C, C)
  std::vector<double> speed_;         // (E)
};

}  // namespace depthgrid
