#include "models/blocks/block_generator.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

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

using Generated = WeightGenerator::Generated;

/// One map per node; unbind()'s backward is a single stack.
void spread(std::vector<BlockWeights>& nodes, AffineMap BlockWeights::* map, const Generated& all) {
  const std::vector<at::Tensor> weights = all.weight.unbind(1);
  for (std::size_t i = 0; i < nodes.size(); ++i) (nodes[i].*map).weight = weights[i];
  if (!all.bias.defined()) return;
  const std::vector<at::Tensor> biases = all.bias.unbind(1);  // one if not generated
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    (nodes[i].*map).bias = biases[biases.size() == 1 ? 0 : i].unsqueeze(1);
  }
}

/// q, k and v, stacked by rows.
Generated stacked(const std::vector<WeightGenerator>& generators, const at::Tensor& features) {
  if (generators.size() == 1) return generators.front().evaluate(features);
  std::vector<at::Tensor> weights, biases;
  for (const WeightGenerator& g : generators) {
    const Generated one = g.evaluate(features);
    weights.push_back(one.weight);
    if (one.bias.defined()) biases.push_back(one.bias);
  }
  return {at::cat(weights, 2), biases.empty() ? at::Tensor() : at::cat(biases, 2)};
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

BlockGenerator::BlockGenerator(ParameterSource& source, const ModelOptions& o,
                               const std::string& name)
    : temporal_(o.norm == NormChoice::TemporalLayer) {
  const std::int64_t branches = 2 * o.layers, c = o.width;
  const bool ab = o.attention_bias, mb = o.mlp_bias;
  const auto generator = [&](const char* part, std::int64_t in, std::int64_t out, bool bias,
                             std::int64_t residual_branches = 0) {
    return WeightGenerator(source, o, {name + part, in, out, bias, residual_branches});
  };
  fixed_.norm1 = norm_parameters(source, o, name + ".norm1", o.norm);
  fixed_.norm2 = norm_parameters(source, o, name + ".norm2", o.norm);
  if (temporal_) {
    norm1_ = TemporalNorm(source, o, name + ".norm1");
    norm2_ = TemporalNorm(source, o, name + ".norm2");
  }
  if (o.hypernet.share_qkv) {
    qkv_ = {generator(".attn.qkv", c, 3 * c, ab)};
  } else {
    for (const char* part : {".attn.q", ".attn.k", ".attn.v"}) {
      qkv_.push_back(generator(part, c, c, ab));
    }
  }
  out_ = generator(".attn.out", c, c, ab, branches);
  up_ = generator(".mlp.up", c, o.up_rows(), mb);
  down_ = generator(".mlp.down", o.hidden, c, mb, branches);
}

std::vector<BlockWeights> BlockGenerator::evaluate(const at::Tensor& features) const {
  std::vector<BlockWeights> nodes(static_cast<std::size_t>(features.size(1)), fixed_);
  spread(nodes, &BlockWeights::qkv, stacked(qkv_, features));
  spread(nodes, &BlockWeights::out, out_.evaluate(features));
  spread(nodes, &BlockWeights::up, up_.evaluate(features));
  spread(nodes, &BlockWeights::down, down_.evaluate(features));
  if (temporal_) set_norms(norm1_, norm2_, features, nodes);
  return nodes;
}

}  // namespace depthgrid
