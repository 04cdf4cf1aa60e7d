#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Rotations of consecutive absolute positions with each cell's base: computed once for all layers.
struct RotaryAngles {
  at::Tensor cosine, sine;  // (E, 1, 1, T, D/2), or (E, B, 1, T, D/2) if sequences differ
};

/// Angle position · base^(−2c/D) of channel pair c at the positions first … first + tokens − 1.
/// @param like  gives dtype and device. Angles are computed in float64.
/// Source: Su et al. (2021), arXiv 2104.09864, eq. 34.
RotaryAngles rotary_angles(const ModelOptions& o, std::int64_t first, std::int64_t tokens,
                           const at::Tensor& like);

/// Selects positions. @param all  (E, 1, 1, T, D/2), or undefined.
/// @param places  (E, B, k) int64, indices into the T. @return (E, B, 1, k, D/2), contiguous
RotaryAngles at_places(const RotaryAngles& all, const at::Tensor& places);

/// Rotates each pair of channels (c, c + D/2). @param x  (E·B, H, T, D). @return the same shape.
at::Tensor rotate(const RotaryAngles& angles, const at::Tensor& x);

}  // namespace depthgrid
