#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A small network of depth-time, evaluated at all L nodes at once: one batched product per layer
/// instead of L. The activation comes between the affine maps, not after the last.
class DepthMlp {
 public:
  DepthMlp() = default;

  /// Parameters NAME.w1 (hidden[0], in), NAME.b1, ... up to the map to `out`; without hidden layers
  /// only NAME.w2 (out, in) and NAME.b2.
  /// @param hidden     widths between `in` and `out`; may be empty.
  /// @param last_bias  initial value of the last bias, (E), or empty for the scheme's default.
  /// @param last_gain  factor on the initial values of the last matrix, (E), or empty for 1.
  DepthMlp(ParameterSource& source, const ModelOptions& o, const std::string& name, std::int64_t in,
           const std::vector<std::int64_t>& hidden, std::int64_t out, Activation activation,
           ParameterGroup group, const std::vector<double>& last_bias,
           const std::vector<double>& last_gain = {});

  /// @param features  (E, L, in) of time_features(). @return (E, L, out)
  at::Tensor forward(const at::Tensor& features) const;

 private:
  std::vector<AffineMap> maps_;
  Activation activation_ = Activation::Relu;
};

}  // namespace depthgrid
