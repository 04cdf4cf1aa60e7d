#pragma once

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// The factor of a control signal at each depth-time: constant, a ramp or a window, per cell.
class ControlProfile {
 public:
  ControlProfile() = default;
  explicit ControlProfile(const ModelOptions& o);

  /// u times the factor, as the maps of the signal read it: (E, 1 or B, 1 or T, c), one token where
  /// all have the same; undefined without a signal.
  /// @param t  (E) depth-time, 0 at the embedding and 1 at the readout.
  /// @throws ShapeError if the signal's axes are not those of the model.
  at::Tensor signal(const Control& u, const at::Tensor& t) const;

  /// The same for every cell at one depth-time.
  at::Tensor signal(const Control& u, double t) const;

 private:
  at::Tensor seen(const Control& u) const;

  std::int64_t axes_ = 0;
  // factor = (start + slope t) where from <= t <= to, else 0; undefined: 1 everywhere
  at::Tensor start_, slope_, from_, to_;  // (E)
};

}  // namespace depthgrid
