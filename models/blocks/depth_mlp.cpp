#include "models/blocks/depth_mlp.hpp"

#include "models/blocks/activation.hpp"
#include "models/blocks/block_parameters.hpp"

namespace depthgrid {
namespace {

AffineMap layer(ParameterSource& source, const ModelOptions& o, const std::string& name,
                const std::string& digit, std::int64_t in, std::int64_t out, ParameterGroup group,
                const std::vector<double>& bias) {
  AffineMap map;
  map.weight = source.parameter({.name = name + ".w" + digit,
                                 .shape = {out, in},
                                 .group = group,
                                 .init = weight_init(o, in, out)});
  Init start = bias_init(o, in);
  if (!bias.empty()) start.fill = bias;
  map.bias = source.parameter(
      {.name = name + ".b" + digit, .shape = {1, out}, .group = group, .init = start});
  return map;
}

}  // namespace

DepthMlp::DepthMlp(ParameterSource& source, const ModelOptions& o, const std::string& name,
                   std::int64_t in, std::int64_t hidden, std::int64_t out, Activation activation,
                   ParameterGroup group, const std::vector<double>& last_bias)
    : activation_(activation) {
  if (hidden > 0) first_ = layer(source, o, name, "1", in, hidden, group, {});
  last_ = layer(source, o, name, "2", hidden > 0 ? hidden : in, out, group, last_bias);
}

at::Tensor DepthMlp::forward(const at::Tensor& features) const {
  if (!first_.weight.defined()) return apply(last_, features);
  return apply(last_, activate(activation_, apply(first_, features)));
}

}  // namespace depthgrid
