#include "models/blocks/temporal_norm.hpp"

#include <string_view>

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>

#include "models/blocks/block_parameters.hpp"

namespace depthgrid {
namespace {

AffineMap generator(ParameterSource& source, const ModelOptions& o, const std::string& name) {
  return {source.parameter({.name = name,
                            .shape = {o.width, o.temporal_hidden},
                            .group = ParameterGroup::Norm,
                            .init = weight_init(o, o.temporal_hidden, o.width)}),
          {}};
}

}  // namespace

TemporalNorm::TemporalNorm(ParameterSource& source, const ModelOptions& o, const std::string& name)
    : time_(source, o, name + ".time", o.time.features(), {o.temporal_hidden}, o.temporal_hidden,
            Activation::Silu, ParameterGroup::Norm, {}),
      scale_(generator(source, o, name + ".scale")),
      shift_(generator(source, o, name + ".shift")) {}

std::vector<NormWeights> TemporalNorm::evaluate(const at::Tensor& features) const {
  const at::Tensor m = time_.forward(features);  // (E, L, hidden)
  const std::vector<at::Tensor> scales = (apply(scale_, m) + 1).unbind(1);
  const std::vector<at::Tensor> shifts = apply(shift_, m).unbind(1);
  std::vector<NormWeights> out;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    out.push_back({scales[i].contiguous(), shifts[i].contiguous()});
  }
  return out;
}

void set_norms(const TemporalNorm& norm1, const TemporalNorm& norm2, const at::Tensor& features,
               std::vector<BlockWeights>& nodes) {
  const std::vector<NormWeights> first = norm1.evaluate(features);
  const std::vector<NormWeights> second = norm2.evaluate(features);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].norm1 = first[i];
    nodes[i].norm2 = second[i];
  }
}

std::vector<DepthFactor> norm_factors(const std::vector<BlockWeights>& nodes) {
  const auto along_depth = [&](std::string_view name, NormWeights BlockWeights::* norm,
                               at::Tensor NormWeights::* part) {
    std::vector<at::Tensor> each;
    for (const BlockWeights& node : nodes) each.push_back((node.*norm).*part);
    return DepthFactor{name, at::stack(each, 1)};
  };
  return {along_depth("norm1.scale", &BlockWeights::norm1, &NormWeights::scale),
          along_depth("norm1.shift", &BlockWeights::norm1, &NormWeights::shift),
          along_depth("norm2.scale", &BlockWeights::norm2, &NormWeights::scale),
          along_depth("norm2.shift", &BlockWeights::norm2, &NormWeights::shift)};
}

}  // namespace depthgrid
