#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/options/model_options.hpp"

namespace depthgrid::testing {

/// Routing as the families tdt and mod have it by default, but for cells of different capacity.
inline void with_routing(ModelOptions& o) {
  const auto n = static_cast<std::size_t>(o.cells);
  constexpr std::array<double, 4> kCapacities = {0.5, 0.25, 1, 0.75};
  o.positions = Positions::Rope;
  o.routing.layers = {1, 2};
  for (std::size_t e = 0; e < n; ++e) o.routing.capacity.push_back(kCapacities[e % 4]);
  o.routing.min_k.assign(n, 0);
  o.routing.threshold.assign(n, 0.5);
  o.tdt.dense_steps.assign(n, 0);
  o.tdt.window = 4;
  o.tdt.o_ce.assign(n, 1.025);
  o.tdt.m_cu.assign(n, 1.1);
  o.tdt.beta_ce.assign(n, -0.3);
  o.tdt.beta_cu.assign(n, -0.6);
  o.tdt.tpn_width = 6;
  o.tdt.router_bias_init.assign(n, 0);
  o.tdt.lambda_tpn.assign(n, 0.05);
  o.tdt.lambda_causal.assign(n, 0.1);
  o.mod.predictor_hidden = 10;
  o.mod.lambda_predictor.assign(n, 0.1);
}

/// Three steps of a flow in place of the middle layer, with a field that matters.
inline void with_flow(ModelOptions& o) {
  const auto n = static_cast<std::size_t>(o.cells);
  o.flow.first = 1;
  o.flow.last = 2;
  o.flow.hidden = 28;
  o.flow.alpha.assign(n, 0.7);
  o.flow.output_std.assign(n, 0.3);
  o.solver.steps = 3;
}

/// A drawn map of a control signal into the field of the flow, as text was always trained with it.
inline void with_control(ModelOptions& o, std::int64_t axes) {
  const bool mlp = o.flow.field == FieldKind::Mlp;
  o.control = {.axes = axes,
               .in_flow = true,
               .injection = mlp ? Injection::Concat : Injection::Additive,
               .drawn = true};
}

/// The field without attention, as the second study's paper writes it.
inline void with_mlp_field(ModelOptions& o) {
  o.flow.field = FieldKind::Mlp;
  o.flow.activation = Activation::Softplus;
  o.flow.time_embedding = false;
  o.flow.hidden = 30;
  with_control(o, 3);
}

/// Small options of E cells, valid for every family; a test changes what it is about.
inline ModelOptions small_options(const std::string& family, std::int64_t cells = 1) {
  const auto n = static_cast<std::size_t>(cells);
  ModelOptions o;
  o.family = family;
  o.cells = cells;
  o.width = 20;  // with 3 heads' worth of nothing a multiple of 32
  o.heads = 2;
  o.layers = 3;
  o.hidden = 28;
  o.vocabulary = 17;
  o.max_tokens = 9;
  o.sublayers =
      family == "time_indexed" || family == "tong" ? Sublayers::Parallel : Sublayers::Sequential;
  o.norm_eps.assign(n, 1e-5);
  o.rope_base.assign(n, 10000);
  o.dropout_attention.assign(n, 0);
  o.dropout_mlp.assign(n, 0);
  o.residual.scale.assign(n, 1);
  o.temporal_hidden = 6;
  o.time.nodes.assign(n, Nodes::Right);
  o.time.constant.assign(n, false);
  o.time.value.assign(n, 0);
  o.time.jitter.assign(n, 0);
  o.time.frequencies = 4;
  o.time.t_scale.assign(n, 1000);
  o.time.base.assign(n, 10000);
  o.modulation.hidden = 5;
  o.modulation.target.fill(true);
  o.modulation.bias_init.assign(n, 0);
  o.modulation.init_gain.assign(n, 1);
  o.hypernet.hidden = 6;
  o.ssm.states = 7;
  o.ssm.generator = 6;
  o.ssm.dt_min.assign(n, 1e-4);
  o.init.std.assign(n, 0.2);
  o.init.embedding_std.assign(n, 0.5);
  o.init.residual_scaling.assign(n, true);
  if (family == "tdt" || family == "mod") with_routing(o);
  if (family == "hybrid_ode") with_flow(o);
  return o;
}

/// These regularisers, by one step of Lanczos. @param band  of the signal's slope.
inline void with_regularisers(ModelOptions& o, const std::vector<Regulariser>& kinds,
                              std::pair<double, double> band = {0, 0}) {
  const auto n = static_cast<std::size_t>(o.cells);
  o.regularisers.margin.assign(n, -1);
  o.regularisers.delta.assign(n, 0.1);
  o.regularisers.band_low.assign(n, band.first);
  o.regularisers.band_high.assign(n, band.second);
  for (const Regulariser kind : kinds) {
    o.regularisers.terms.push_back({kind, std::vector<double>(n, 0.1)});
  }
}

/// A state-space layer in place of the feed-forward sublayer.
inline void with_state_space(ModelOptions& o) {
  o.mixer = Mixer::Ssm;
  o.modulation.target[4] = o.modulation.target[5] = false;
}

/// Shapes of the first study's public code: one linear gate a weight type, temporal norms.
inline void with_published_shapes(ModelOptions& o) {
  o.sublayers = Sublayers::Sequential;
  o.norm = o.final_norm = NormChoice::TemporalLayer;
  o.positions = Positions::None;
  o.time.kind = FeatureKind::Geometric;
  o.modulation.hidden = 0;
  o.modulation.share_qkv = true;
  o.modulation.granularity.fill(Granularity::Column);
  o.modulation.granularity[3] = Granularity::Row;
  o.attention_bias = false;
}

}  // namespace depthgrid::testing
