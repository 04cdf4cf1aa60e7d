#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_method.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/control_profile.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A control signal in discrete layers, the same for all families: before layer l the stream moves
/// by W_l u, so that all that the layer does, routing included, sees the moved state.
///
/// Source: second study, 3.2, as the baseline of a flow that listens; Dathathri et al. (2020) and
/// Rimsky et al. (2024) add vectors to the stream of trained models in the same place.
class LayerControl {
 public:
  LayerControl() = default;
  /// Parameters layers.l.control.weight (C, c), zero at the start.
  LayerControl(ParameterSource& source, const ModelOptions& o);

  bool none() const noexcept { return maps_.empty(); }

  /// The state as depth step `step` finds it. @param x  (E, B, T, C).
  at::Tensor enter(const at::Tensor& x, std::int64_t step, const Control& u) const;

  /// A field whose steps begin so; `field` itself if no layer is controlled. Refers to this.
  FieldPtr over(FieldPtr field) const;

 private:
  std::vector<AffineMap> maps_;  // one per depth step; undefined where nothing enters
  std::vector<double> times_;    // depth-time at the input of each
  ControlProfile profile_;
};

/// Parameters of one map of a control signal: NAME.weight (out, c), zero at the start, in group
/// control.
AffineMap control_map(ParameterSource& source, const ModelOptions& o, const std::string& name,
                      std::int64_t out);

}  // namespace depthgrid
