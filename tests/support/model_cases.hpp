#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/flow_cases.hpp"
#include "tests/support/model_case.hpp"
#include "tests/support/small_options.hpp"

namespace depthgrid::testing {

/// What layers of `standard` may have in common.
inline void add_share_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& name, std::function<void(ModelOptions&)> change) {
    cases.push_back({"standard_share_" + name, "standard", std::move(change)});
  };
  add("all", [](ModelOptions& o) { o.share = Share::All; });
  add("attention", [](ModelOptions& o) { o.share = Share::Attention; });
  add("ffn", [](ModelOptions& o) { o.share = Share::FeedForward; });
  add("all_parallel", [](ModelOptions& o) {
    o.share = Share::All;
    o.sublayers = Sublayers::Parallel;
  });
  add("all_per_layer_scale", [](ModelOptions& o) {
    o.share = Share::All;
    o.residual.kind = ScaleKind::LearnedPerLayer;
  });
}

/// The options of tong alone, and what the published presets make of them.
inline void add_tong_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& name, std::function<void(ModelOptions&)> change) {
    cases.push_back({"tong_" + name, "tong", std::move(change)});
  };
  add("shared_qkv", [](ModelOptions& o) { o.hypernet.share_qkv = true; });
  add("fixed_biases", [](ModelOptions& o) { o.hypernet.generate_bias = false; });
  add("per_layer", [](ModelOptions& o) { o.hypernet.per_layer = true; });
  add("linear_network", [](ModelOptions& o) { o.hypernet.depth = 1; });
  add("deep_network", [](ModelOptions& o) {
    o.hypernet.depth = 4;
    o.hypernet.activation = Activation::Tanh;
  });
  add("text", [](ModelOptions& o) {
    o.time.include_t = false;
    o.residual.scale.assign(o.residual.scale.size(), 1.0 / 3);
  });
  add("constant_time",
      [](ModelOptions& o) { o.time.constant.assign(o.time.constant.size(), true); });
  add("left_nodes", [](ModelOptions& o) { o.time.nodes.assign(o.time.nodes.size(), Nodes::Left); });
  add("jitter", [](ModelOptions& o) { o.time.jitter.assign(o.time.jitter.size(), 0.3); });
  const auto published = [](ModelOptions& o) {
    o.norm = NormChoice::TemporalLayer;
    o.positions = Positions::None;
    o.activation = Activation::GeluTanh;
    o.time.kind = FeatureKind::Geometric;
    o.hypernet.share_qkv = true;
  };
  add("published", [=](ModelOptions& o) {
    published(o);
    o.residual.scale.assign(o.residual.scale.size(), 1.0 / 3);
  });
  add("published_standard", [=](ModelOptions& o) {
    published(o);
    o.final_norm = NormChoice::TemporalLayer;
    o.sublayers = Sublayers::Sequential;
    o.hypernet.per_layer = true;
  });
}

/// The same case with the tokens of a TopK gathered: cells of one k.
inline ModelCase gathered(ModelCase one) {
  one.name += "_gathered";
  one.change = [change = std::move(one.change)](ModelOptions& o) {
    change(o);
    o.routing.gathered = true;
    o.routing.capacity.assign(o.routing.capacity.size(), 0.5);
  };
  return one;
}

/// Widths that are whole registers, which on a CPU run as kernels of whole blocks or sublayers
/// (models/ops/sublayer.hpp): the other cases never do.
inline void add_lane_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& family, const std::string& name,
                       std::function<void(ModelOptions&)> more) {
    cases.push_back({family + "_lanes" + name, family, [more = std::move(more)](ModelOptions& o) {
                       o.width = 32;
                       o.hidden = o.flow.hidden = 48;
                       more(o);
                     }});
  };
  const auto nothing = [](ModelOptions&) {};
  for (const std::string family : kFamilies) {
    add(family, "", nothing);
    add(family, "_parallel", [](ModelOptions& o) { o.sublayers = Sublayers::Parallel; });
    add(family, "_sequential_rope", [](ModelOptions& o) {
      o.sublayers = Sublayers::Sequential;
      o.positions = Positions::Rope;
    });
    // A learned step length is differentiated: the sublayers are nodes of their own.
    add(family, "_learned_scale", [](ModelOptions& o) {
      o.sublayers = Sublayers::Sequential;
      o.residual.kind = ScaleKind::Learned;
    });
    add(family, "_rms_silu_without_bias", [](ModelOptions& o) {
      o.norm = o.final_norm = NormChoice::Rms;
      o.activation = Activation::Silu;
      o.attention_bias = o.mlp_bias = false;
    });
    add(family, "_no_norm_relu", [](ModelOptions& o) {
      o.norm = o.final_norm = NormChoice::None;
      o.activation = Activation::Relu;
    });
    // Only one of the sublayers is a kernel.
    add(family, "_swiglu", [](ModelOptions& o) { o.activation = Activation::Swiglu; });
    add(family, "_dropout",
        [](ModelOptions& o) { o.dropout_mlp.assign(o.dropout_mlp.size(), .2); });
    if (family != "tdt" && family != "mod") continue;
    add(family, "_learned_positions", [](ModelOptions& o) { o.positions = Positions::Learned; });
    const std::vector<ModelCase> masked = cases;
    for (const ModelCase& one : masked) {
      if (one.family == family && one.name.find("_lanes") != std::string::npos)
        cases.push_back(gathered(one));
    }
  }
  add("time_indexed", "_element",
      [](ModelOptions& o) { o.modulation.granularity.fill(Granularity::Element); });
  add("time_indexed", "_temporal_norms",
      [](ModelOptions& o) { o.norm = o.final_norm = NormChoice::TemporalLayer; });
  add("time_indexed", "_ssm", with_state_space);
  add("time_indexed", "_learned_gain", [](ModelOptions& o) { o.init.learned_gain = true; });
}

/// The options of the families that skip tokens.
inline void add_routing_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& family, const std::string& name,
                       std::function<void(ModelOptions&)> change) {
    cases.push_back({family + "_" + name, family, std::move(change)});
  };
  for (const std::string family : {"tdt", "mod"}) {
    add(family, "plain", [](ModelOptions&) {});
    add(family, "parallel", [](ModelOptions& o) { o.sublayers = Sublayers::Parallel; });
    add(family, "learned_positions", [](ModelOptions& o) { o.positions = Positions::Learned; });
    add(family, "learned_scale", [](ModelOptions& o) { o.residual.kind = ScaleKind::Learned; });
    add(family, "swiglu_rms", [](ModelOptions& o) {
      o.activation = Activation::Swiglu;
      o.norm = o.final_norm = NormChoice::Rms;
    });
    add(family, "all_layers", [](ModelOptions& o) { o.routing.layers = {0, 1, 2}; });
    add(family, "dropout", [](ModelOptions& o) {
      o.dropout_attention.assign(o.dropout_attention.size(), 0.1);
      o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
    });
  }
  add("tdt", "xavier_output", [](ModelOptions& o) { o.tdt.tpn_start = TpnStart::Xavier; });
  add("tdt", "zero_output", [](ModelOptions& o) { o.tdt.tpn_start = TpnStart::Zero; });
  add("tdt", "soft", [](ModelOptions& o) { o.tdt.path = TrainPath::GatedSoft; });
  add("tdt", "dense", [](ModelOptions& o) { o.tdt.path = TrainPath::Dense; });
  add("tdt", "literal", [](ModelOptions& o) {
    o.tdt.path = TrainPath::Dense;
    o.tdt.positive_scalars = o.tdt.tpn_norm = o.tdt.tpn_detach_input = false;
    o.tdt.router_norm = o.tdt.router_detach_input = false;
    o.tdt.lambda_tpn.assign(o.tdt.lambda_tpn.size(), 1);
    o.tdt.lambda_causal.assign(o.tdt.lambda_causal.size(), 1);
  });
  add("tdt", "raw_inputs", [](ModelOptions& o) {
    o.tdt.path = TrainPath::Dense;
    o.tdt.tpn_norm = o.tdt.tpn_detach_input = false;
    o.tdt.router_norm = o.tdt.router_detach_input = false;
    o.tdt.lambda_tpn.assign(o.tdt.lambda_tpn.size(), 1);
    o.tdt.lambda_causal.assign(o.tdt.lambda_causal.size(), 1);
  });
  add("tdt", "attached", [](ModelOptions& o) {
    o.tdt.gate_grad_to_trunk = true;
    o.tdt.tpn_detach_input = o.tdt.router_detach_input = false;
  });
  add("tdt", "exclusive_without_bias", [](ModelOptions& o) {
    o.tdt.exclusive = true;
    o.tdt.router_bias = false;
    o.routing.always_first = true;
  });
  add("tdt", "dense_start", [](ModelOptions& o) {
    for (std::size_t e = 0; e < o.tdt.dense_steps.size(); ++e) {
      o.tdt.dense_steps[e] = static_cast<std::int64_t>(2 * e);
    }
  });
  add("tdt", "layer_rms", [](ModelOptions& o) { o.tdt.layer_rms = true; });
  add("tdt", "layer_rms_soft", [](ModelOptions& o) {
    o.tdt.layer_rms = o.tdt.exclusive = true;
    o.tdt.path = TrainPath::GatedSoft;
  });
  const std::vector<ModelCase> masked = cases;
  for (const ModelCase& one : masked) {
    const bool skips = one.family == "tdt" || one.family == "mod";
    if (skips && one.name != "tdt_dense_start") cases.push_back(gathered(one));  // of one share
  }
}

/// Every structural option of the families, one at a time, and the published preset's combination.
inline std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  for (const std::string family : {"standard", "time_indexed", "tong", "hybrid_ode"}) {
    const auto add = [&](const std::string& name, std::function<void(ModelOptions&)> change) {
      cases.push_back({family + "_" + name, family, std::move(change)});
    };
    add("plain", [](ModelOptions&) {});
    add("sequential", [](ModelOptions& o) { o.sublayers = Sublayers::Sequential; });
    add("parallel", [](ModelOptions& o) { o.sublayers = Sublayers::Parallel; });
    add("rms", [](ModelOptions& o) { o.norm = o.final_norm = NormChoice::Rms; });
    add("no_norm", [](ModelOptions& o) { o.norm = o.final_norm = NormChoice::None; });
    add("rope", [](ModelOptions& o) { o.positions = Positions::Rope; });
    add("no_positions", [](ModelOptions& o) { o.positions = Positions::None; });
    add("explicit", [](ModelOptions& o) { o.attention = AttentionKind::Explicit; });
    add("swiglu", [](ModelOptions& o) { o.activation = Activation::Swiglu; });
    add("gelu_tanh", [](ModelOptions& o) { o.activation = Activation::GeluTanh; });
    add("silu_no_bias", [](ModelOptions& o) {
      o.activation = Activation::Silu;
      o.attention_bias = o.mlp_bias = false;
    });
    add("tied", [](ModelOptions& o) { o.tie_embeddings = true; });
    add("dropout", [](ModelOptions& o) {
      o.dropout_attention.assign(o.dropout_attention.size(), 0.1);
      o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
    });
    add("learned_scale", [](ModelOptions& o) { o.residual.kind = ScaleKind::Learned; });
    add("scale_per_layer", [](ModelOptions& o) { o.residual.kind = ScaleKind::LearnedPerLayer; });
    add("pytorch_init", [](ModelOptions& o) { o.init.scheme = InitScheme::Pytorch; });
    add("one_layer", [](ModelOptions& o) {
      o.layers = 1;
      if (o.flow.replaced() > 0) {
        o.flow.first = 0;
        o.flow.last = 1;
      }
    });
    add("xavier_init", [](ModelOptions& o) { o.init.scheme = InitScheme::Xavier; });
  }
  const auto add = [&](const std::string& name, std::function<void(ModelOptions&)> change) {
    cases.push_back({"time_indexed_" + name, "time_indexed", std::move(change)});
  };
  const auto granularity = [](Granularity g) {
    return [g](ModelOptions& o) { o.modulation.granularity.fill(g); };
  };
  add("column", granularity(Granularity::Column));
  add("element", granularity(Granularity::Element));
  add("mixed", [](ModelOptions& o) {
    o.modulation.granularity[0] = Granularity::Element;
    o.modulation.granularity[1] = Granularity::Column;
  });
  add("one_plus_tanh", [](ModelOptions& o) { o.modulation.gate = GateKind::OnePlusTanh; });
  add("identity_gate", [](ModelOptions& o) {
    o.modulation.gate = GateKind::Identity;
    o.modulation.bias_init.assign(o.modulation.bias_init.size(), 1);
  });
  add("no_gate", [](ModelOptions& o) { o.modulation.gate = GateKind::Constant; });
  add("half_gate", [](ModelOptions& o) {
    o.modulation.gate = GateKind::Constant;
    o.modulation.value = 0.5;
  });
  add("wide_gates",
      [](ModelOptions& o) { o.modulation.init_gain.assign(o.modulation.init_gain.size(), 30); });
  add("text_targets", [](ModelOptions& o) { o.modulation.target[3] = false; });
  add("only_v", [](ModelOptions& o) {
    o.modulation.target.fill(false);
    o.modulation.target[2] = true;
  });
  add("linear_gate", [](ModelOptions& o) { o.modulation.hidden = 0; });
  add("silu_gate", [](ModelOptions& o) { o.modulation.activation = Activation::Silu; });
  add("shared_qkv", [](ModelOptions& o) { o.modulation.share_qkv = true; });
  add("geometric", [](ModelOptions& o) { o.time.kind = FeatureKind::Geometric; });
  add("without_t", [](ModelOptions& o) { o.time.include_t = false; });
  add("constant_time",
      [](ModelOptions& o) { o.time.constant.assign(o.time.constant.size(), true); });
  add("left_nodes", [](ModelOptions& o) { o.time.nodes.assign(o.time.nodes.size(), Nodes::Left); });
  add("jitter", [](ModelOptions& o) { o.time.jitter.assign(o.time.jitter.size(), 0.3); });
  add("temporal_norms", [](ModelOptions& o) { o.norm = o.final_norm = NormChoice::TemporalLayer; });
  add("learned_gain", [](ModelOptions& o) { o.init.learned_gain = true; });
  add("published", with_published_shapes);
  add_share_cases(cases);
  add_tong_cases(cases);
  add_flow_cases(cases);
  add_solved_cases(cases);
  add_gradient_cases(cases);
  add_regulariser_cases(cases);
  add_routing_cases(cases);
  add_lane_cases(cases);
  const auto add_ssm = [&](const std::string& name, std::function<void(ModelOptions&)> more) {
    add("ssm_" + name, [more = std::move(more)](ModelOptions& o) {
      with_state_space(o);
      more(o);
    });
  };
  add_ssm("plain", [](ModelOptions&) {});
  add_ssm("one_layer", [](ModelOptions& o) { o.layers = 1; });
  add_ssm("constant_time",
          [](ModelOptions& o) { o.time.constant.assign(o.time.constant.size(), true); });
  add_ssm("sequential", [](ModelOptions& o) { o.sublayers = Sublayers::Sequential; });
  add_ssm("euler", [](ModelOptions& o) { o.ssm.discretisation = Discretisation::Euler; });
  add_ssm("undiscretised", [](ModelOptions& o) { o.ssm.discretisation = Discretisation::None; });
  add_ssm("dense", [](ModelOptions& o) { o.ssm.dense = true; });
  add_ssm("dense_euler", [](ModelOptions& o) {
    o.ssm.dense = true;
    o.ssm.discretisation = Discretisation::Euler;
  });
  add_ssm("dense_undiscretised", [](ModelOptions& o) {
    o.ssm.dense = true;
    o.ssm.discretisation = Discretisation::None;
  });
  add_ssm("full_skip", [](ModelOptions& o) { o.ssm.skip = SsmSkip::Full; });
  add_ssm("no_skip", [](ModelOptions& o) { o.ssm.skip = SsmSkip::None; });
  add_ssm("element", [](ModelOptions& o) { o.ssm.element = true; });
  add_ssm("dense_element", [](ModelOptions& o) {
    o.ssm.dense = o.ssm.element = true;
    o.ssm.skip = SsmSkip::Full;
  });
  add_ssm("no_gate", [](ModelOptions& o) { o.modulation.gate = GateKind::Constant; });
  add_ssm("one_plus_tanh", [](ModelOptions& o) { o.modulation.gate = GateKind::OnePlusTanh; });
  add_ssm("one_state", [](ModelOptions& o) {
    o.ssm.states = 1;
    o.width = 70;
  });
  add_ssm("one_dense_state", [](ModelOptions& o) {
    o.ssm.states = 1;
    o.ssm.dense = true;
    o.width = 70;
  });
  add_ssm("dropout", [](ModelOptions& o) { o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2); });
  add_ssm("learned_gain", [](ModelOptions& o) { o.init.learned_gain = true; });
  add_ssm("generated", [](ModelOptions& o) { o.ssm.generated = true; });
  add_ssm("published", [](ModelOptions& o) {
    with_published_shapes(o);
    o.ssm.discretisation = Discretisation::Euler;
    o.ssm.element = o.ssm.generated = true;
  });
  return cases;
}

}  // namespace depthgrid::testing
