#include "models/blocks/base_gains.hpp"

#include <ATen/TensorOperators.h>

namespace depthgrid {
namespace {

constexpr std::int64_t kOfAttention = 4;

/// The matrices stacked by rows in `map`, each times its factor.
/// @param gains  (E, n)
void scale(AffineMap& map, const at::Tensor& gains) {
  const at::Tensor& w = map.weight;
  const at::Tensor factor = gains.to(w.scalar_type()).unsqueeze(2).unsqueeze(3);
  map.weight = (w.view({w.size(0), gains.size(1), -1, w.size(2)}) * factor).view(w.sizes());
}

}  // namespace

BaseGains::BaseGains(ParameterSource& source, const ModelOptions& o) {
  if (!o.init.learned_gain) return;
  const std::int64_t matrices =
      o.mixer == Mixer::Mlp ? static_cast<std::int64_t>(kWeightTypes) : kOfAttention;
  gain_ = source.parameter({.name = "block.gain",
                            .shape = {matrices},
                            .group = ParameterGroup::Gain,
                            .init = {.fill = {1.0}}});
}

BlockWeights BaseGains::scaled(const BlockWeights& base) const {
  BlockWeights w = base;
  if (!gain_.defined()) return w;
  scale(w.qkv, gain_.narrow(1, 0, 3));
  scale(w.out, gain_.narrow(1, 3, 1));
  if (gain_.size(1) == kOfAttention) return w;
  scale(w.up, gain_.narrow(1, 4, 1));
  scale(w.down, gain_.narrow(1, 5, 1));
  return w;
}

}  // namespace depthgrid
