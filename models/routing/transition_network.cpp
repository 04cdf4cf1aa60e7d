#include "models/routing/transition_network.hpp"

#include <cmath>

#include "models/blocks/activation.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/ops/per_cell_norm.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {

TransitionNetwork::TransitionNetwork(ParameterSource& source, const ModelOptions& o,
                                     const std::string& name) {
  const std::int64_t hidden = o.tdt.tpn_width;
  const auto matrix = [&](const std::string& part, std::int64_t out, std::int64_t in, Init init) {
    return source.parameter({.name = name + part,
                             .shape = {out, in},
                             .group = ParameterGroup::Tpn,
                             .init = std::move(init),
                             .factor = true});
  };
  const Init xavier = xavier_init(o.width, hidden);
  const Init last = o.tdt.tpn_start == TpnStart::Xavier ? xavier
                    : o.tdt.tpn_start == TpnStart::Zero
                        ? Init{}
                        : Init{.draw = Init::Draw::Normal, .scale = {0.02}};
  up_.weight = matrix(".up.weight", 2 * hidden, o.width, xavier);
  down_.weight = matrix(".down.weight", o.width, hidden, last);
}

at::Tensor TransitionNetwork::predict(const ModelOptions& o, const at::Tensor& x) const {
  const at::Tensor source = o.tdt.tpn_detach_input ? x.detach() : x;
  at::Tensor before = previous_tokens(source);
  if (o.tdt.tpn_norm) {
    before = per_cell_norm(NormKind::Rms, before, {}, {}, o.norm_eps);
  }
  return apply(down_, activate(Activation::Swiglu, apply(up_, before))).to(x.scalar_type());
}

}  // namespace depthgrid
