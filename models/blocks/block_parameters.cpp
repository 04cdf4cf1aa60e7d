#include "models/blocks/block_parameters.hpp"

#include <algorithm>
#include <cmath>

namespace depthgrid {
namespace {

Init uniform(double bound) {
  return {.draw = Init::Draw::Uniform, .scale = {bound}};
}

}  // namespace

Init xavier_init(std::int64_t in, std::int64_t out) {
  return uniform(std::sqrt(6 / (static_cast<double>(in) + static_cast<double>(out))));
}

Init weight_init(const ModelOptions& o, std::int64_t in, std::int64_t out,
                 std::int64_t residual_branches) {
  std::vector<double> shrink(o.init.residual_scaling.size(), 1.0);
  for (std::size_t e = 0; e < shrink.size(); ++e) {
    if (residual_branches > 0 && o.init.residual_scaling[e]) {
      shrink[e] = 1 / std::sqrt(static_cast<double>(residual_branches));
    }
  }
  Init init;
  switch (o.init.scheme) {
    case InitScheme::Pytorch:
      init = uniform(1 / std::sqrt(static_cast<double>(in)));
      break;
    case InitScheme::Xavier:
      init = xavier_init(in, out);
      break;
    case InitScheme::Gpt2:
      init = {.draw = Init::Draw::Normal, .scale = o.init.std};
      break;
  }
  init.scale.resize(shrink.size(), init.scale.front());
  std::ranges::transform(init.scale, shrink, init.scale.begin(), std::multiplies<>());
  return init;
}

Init bias_init(const ModelOptions& o, std::int64_t in) {
  if (o.init.scheme != InitScheme::Pytorch) return {};
  return uniform(1 / std::sqrt(static_cast<double>(in)));
}

Init table_init(const ModelOptions& o) {
  return {.draw = Init::Draw::Normal, .scale = o.init.embedding_std};
}

AffineMap affine_parameters(ParameterSource& source, const ModelOptions& o,
                            const AffineSpec& spec) {
  AffineMap map;
  map.weight = source.parameter({.name = spec.name + ".weight",
                                 .shape = {spec.out, spec.in},
                                 .group = spec.group,
                                 .init = weight_init(o, spec.in, spec.out, spec.residual_branches),
                                 .factor = true});
  if (spec.bias) {
    map.bias = source.parameter({.name = spec.name + ".bias",
                                 .shape = {1, spec.out},
                                 .group = spec.bias_group,
                                 .init = bias_init(o, spec.in),
                                 .factor = true});
  }
  return map;
}

NormWeights norm_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                            NormChoice kind) {
  NormWeights norm;
  if (kind == NormChoice::Layer || kind == NormChoice::Rms) {
    norm.scale = source.parameter({.name = name + ".scale",
                                   .shape = {o.width},
                                   .group = ParameterGroup::Norm,
                                   .init = {.fill = {1.0}}});
  }
  if (kind == NormChoice::Layer) {
    norm.shift = source.parameter(
        {.name = name + ".shift", .shape = {o.width}, .group = ParameterGroup::Norm});
  }
  return norm;
}

void attention_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                          BlockWeights& w) {
  const bool ab = o.attention_bias;
  w.norm1 = norm_parameters(source, o, name + ".norm1", o.norm);
  w.qkv = affine_parameters(
      source, o, {.name = name + ".attn.qkv", .in = o.width, .out = 3 * o.width, .bias = ab});
  w.out = affine_parameters(source, o,
                            {.name = name + ".attn.out",
                             .in = o.width,
                             .out = o.width,
                             .bias = ab,
                             .residual_branches = 2 * o.layers});
}

void second_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                       BlockWeights& w) {
  w.norm2 = norm_parameters(source, o, name + ".norm2", o.norm);
  if (o.mixer != Mixer::Mlp) return;
  w.up = affine_parameters(
      source, o, {.name = name + ".mlp.up", .in = o.width, .out = o.up_rows(), .bias = o.mlp_bias});
  w.down = affine_parameters(source, o,
                             {.name = name + ".mlp.down",
                              .in = o.hidden,
                              .out = o.width,
                              .bias = o.mlp_bias,
                              .residual_branches = 2 * o.layers});
}

BlockWeights block_parameters(ParameterSource& source, const ModelOptions& o,
                              const std::string& name) {
  BlockWeights w;
  attention_parameters(source, o, name, w);
  second_parameters(source, o, name, w);
  return w;
}

}  // namespace depthgrid
