#include "models/blocks/depth_mlp.hpp"

#include <algorithm>
#include <functional>

#include "models/blocks/activation.hpp"
#include "models/blocks/block_parameters.hpp"

namespace depthgrid {
namespace {

AffineMap layer(ParameterSource& source, const ModelOptions& o, const std::string& name,
                const std::string& digit, std::int64_t in, std::int64_t out, ParameterGroup group,
                const std::vector<double>& bias, const std::vector<double>& gain) {
  AffineMap map;
  Init drawn = weight_init(o, in, out);
  if (!gain.empty()) {
    drawn.scale.resize(gain.size(), drawn.scale.front());
    std::ranges::transform(drawn.scale, gain, drawn.scale.begin(), std::multiplies<>());
  }
  map.weight = source.parameter(
      {.name = name + ".w" + digit, .shape = {out, in}, .group = group, .init = drawn});
  Init start = bias_init(o, in);
  if (!bias.empty()) start.fill = bias;
  map.bias = source.parameter(
      {.name = name + ".b" + digit, .shape = {1, out}, .group = group, .init = start});
  return map;
}

}  // namespace

DepthMlp::DepthMlp(ParameterSource& source, const ModelOptions& o, const std::string& name,
                   std::int64_t in, const std::vector<std::int64_t>& hidden, std::int64_t out,
                   Activation activation, ParameterGroup group,
                   const std::vector<double>& last_bias, const std::vector<double>& last_gain)
    : activation_(activation) {
  for (const std::int64_t width : hidden) {
    maps_.push_back(
        layer(source, o, name, std::to_string(maps_.size() + 1), in, width, group, {}, {}));
    in = width;
  }
  const std::size_t last = hidden.empty() ? 2 : hidden.size() + 1;
  maps_.push_back(
      layer(source, o, name, std::to_string(last), in, out, group, last_bias, last_gain));
}

at::Tensor DepthMlp::forward(const at::Tensor& features) const {
  at::Tensor y = apply(maps_.front(), features);
  for (std::size_t i = 1; i < maps_.size(); ++i) y = apply(maps_[i], activate(activation_, y));
  return y;
}

}  // namespace depthgrid
