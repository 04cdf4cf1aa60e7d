#pragma once

#include <string>

#include "core/train/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/model_options.hpp"

namespace depthgrid {

/// A small network of depth-time, evaluated at all L nodes at once: one batched product a layer
/// instead of L. With `hidden` = 0 it is a single affine map.
class DepthMlp {
 public:
  DepthMlp() = default;

  /// Parameters NAME.w1 (hidden, in), NAME.b1, NAME.w2 (out, hidden), NAME.b2; or NAME.w2 (out, in)
  /// and NAME.b2 alone. @param last_bias  start of b2, (E) or empty for the scheme's own.
  DepthMlp(ParameterSource& source, const ModelOptions& o, const std::string& name, std::int64_t in,
           std::int64_t hidden, std::int64_t out, Activation activation, ParameterGroup group,
           const std::vector<double>& last_bias);

  /// @param features  (E, L, in) of time_features(). @return (E, L, out)
  at::Tensor forward(const at::Tensor& features) const;

 private:
  AffineMap first_;
  AffineMap last_;
  Activation activation_ = Activation::Relu;
};

}  // namespace depthgrid
