#include "models/blocks/weight_generator.hpp"

#include <vector>

#include "models/blocks/block_parameters.hpp"
#include "models/ops/depth_product.hpp"

namespace depthgrid {
namespace {

DepthMlp time_network(ParameterSource& source, const ModelOptions& o, const std::string& name) {
  const HypernetOptions& h = o.hypernet;
  return {source,
          o,
          name + ".time",
          o.time.features(),
          std::vector<std::int64_t>(static_cast<std::size_t>(h.depth - 1), h.hidden),
          h.hidden,
          h.activation,
          ParameterGroup::Hypernet,
          {}};
}

}  // namespace

WeightGenerator::WeightGenerator(ParameterSource& source, const ModelOptions& o, const Spec& spec)
    : in_(spec.in), out_(spec.out), time_(time_network(source, o, spec.name)) {
  const std::int64_t hidden = o.hypernet.hidden, entries = in_ * out_;
  const auto parameter = [&](const char* part, std::vector<std::int64_t> shape, Init init,
                             ParameterGroup group = ParameterGroup::Hypernet) {
    return source.parameter({.name = spec.name + part,
                             .shape = std::move(shape),
                             .group = group,
                             .init = std::move(init),
                             .factor = true});
  };
  const std::int64_t branches = spec.residual_branches;
  generator_ =
      parameter(".generator", {hidden, entries}, weight_init(o, hidden, entries, branches));
  base_ = parameter(".base", {1, entries}, weight_init(o, in_, out_, branches));
  if (!spec.bias) return;
  if (o.hypernet.generate_bias) {
    bias_generator_ = parameter(".bias_generator", {hidden, out_}, bias_init(o, hidden));
  } else {
    bias_ = parameter(".bias", {1, out_}, bias_init(o, in_), ParameterGroup::Bias);
  }
}

WeightGenerator::Generated WeightGenerator::evaluate(const at::Tensor& features) const {
  const at::Tensor m = time_.forward(features);  // (E, L, h)
  Generated at_nodes;
  at_nodes.weight = depth_product(generator_, base_, m).view({m.size(0), m.size(1), out_, in_});
  at_nodes.bias = bias_generator_.defined() ? depth_product(bias_generator_, {}, m) : bias_;
  return at_nodes;
}

}  // namespace depthgrid
