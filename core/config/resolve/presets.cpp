#include "core/config/resolve/presets.hpp"

#include <span>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"

namespace depthgrid {
namespace {

struct Row {
  std::string_view path, yaml;
};

/// A plain GPT of the first study's size: 4,902,912 parameters with V = 256, T = 128.
constexpr Row kGpt[] = {
    {"model.family", "standard"},      {"model.d_model", "256"},
    {"model.n_layers", "6"},           {"model.n_heads", "4"},
    {"model.sublayers", "sequential"}, {"model.norm", "pre"},
    {"model.norm_kind", "layer_norm"}, {"model.final_norm", "layer_norm"},
    {"model.positions", "learned"},    {"model.activation", "gelu"},
    {"model.attention.bias", "true"},  {"model.mlp.bias", "true"},
    {"model.tie_embeddings", "false"}, {"model.residual.scale", "1"},
    {"model.share", "none"},
};

/// GPT-2 small: 124,439,808 parameters. Source: Radford et al. (2019), table 2, and its released
/// weights.
constexpr Row kGpt2[] = {
    {"model.family", "standard"},
    {"model.d_model", "768"},
    {"model.n_layers", "12"},
    {"model.n_heads", "12"},
    {"model.d_ff", "3072"},
    {"model.vocab_size", "50257"},
    {"model.max_seq_len", "1024"},
    {"model.sublayers", "sequential"},
    {"model.share", "none"},
    {"model.norm", "pre"},
    {"model.norm_kind", "layer_norm"},
    {"model.final_norm", "layer_norm"},
    {"model.norm_eps", "1e-5"},
    {"model.positions", "learned"},
    {"model.activation", "gelu_tanh"},
    {"model.attention.bias", "true"},
    {"model.mlp.bias", "true"},
    {"model.tie_embeddings", "true"},
    {"model.residual.scale", "1"},
};

/// The six-block baseline of the second study's hybrid: 30,503,424 parameters. A table of 128
/// positions, dropout 0.1 on attention and after the MLP, PyTorch's initialisation.
constexpr Row kHybridBaseline[] = {
    {"model.family", "standard"},
    {"model.share", "none"},
};

/// Common to both arms of the second study.
constexpr Row kHybridSizes[] = {
    {"model.d_model", "256"},
    {"model.n_layers", "6"},
    {"model.n_heads", "4"},
    {"model.d_ff", "1024"},
    {"model.vocab_size", "50257"},
    {"model.max_seq_len", "128"},
    {"model.sublayers", "sequential"},
    {"model.norm", "pre"},
    {"model.norm_kind", "layer_norm"},
    {"model.final_norm", "layer_norm"},
    {"model.norm_eps", "1e-5"},
    {"model.positions", "learned"},
    {"model.activation", "gelu"},
    {"model.attention.bias", "true"},
    {"model.mlp.bias", "true"},
    {"model.tie_embeddings", "false"},
    {"model.residual.scale", "1"},
    {"model.dropout.attention", "0.1"},
    {"model.dropout.mlp", "0.1"},
    {"model.init.scheme", "pytorch"},
};

/// The second study's hybrid: the baseline with a flow in place of layers 2 and 3, four Euler steps
/// over a field with attention, time and control inputs: 29,781,249 parameters.
constexpr Row kHybridOde[] = {
    {"model.family", "hybrid_ode"},
    {"model.replaced_layers", "[2, 4]"},
    {"model.field.kind", "attention_mlp"},
    {"model.field.hidden", "1024"},
    {"model.field.activation", "gelu"},
    {"model.field.sublayers", "parallel"},
    {"model.field.time_embedding", "mlp"},
    {"model.field.alpha_init", "0.1"},
    {"model.field.alpha_learned", "true"},
    {"model.field.dropout_mask", "per_evaluation"},
    {"model.solver.method", "euler"},
    {"model.solver.steps", "4"},
    {"model.control.dim", "4"},
    {"model.control.neutral", "bias"},
};

/// The shapes of the first study's public code: one linear gate per weight type, on the input of
/// q, k, v (shared), up and down, on the output of out; feed-forward of width d; three temporal
/// norms; sequential sublayers. 715,840 parameters with V = 256.
constexpr Row kPublishedTimeIndexedMlp[] = {
    {"model.family", "time_indexed"},
    {"model.mixer", "mlp"},
    {"model.d_model", "256"},
    {"model.n_layers", "6"},
    {"model.n_heads", "4"},
    {"model.d_ff", "256"},
    {"model.sublayers", "sequential"},
    {"model.norm", "pre"},
    {"model.norm_kind", "temporal_layer_norm"},
    {"model.final_norm", "temporal_layer_norm"},
    {"model.temporal_norm.hidden", "64"},
    {"model.positions", "none"},
    {"model.activation", "gelu_tanh"},
    {"model.attention.bias", "false"},
    {"model.mlp.bias", "true"},
    {"model.tie_embeddings", "false"},
    {"model.residual.scale", "1"},
    {"model.time.nodes", "right"},
    {"model.time.dependence", "layer"},
    {"model.time_features.kind", "geometric"},
    {"model.time_features.frequencies", "32"},
    {"model.time_features.include_t", "true"},
    {"model.time_features.t_scale", "1000"},
    {"model.time_features.base", "10000"},
    {"model.modulation.hidden", "0"},
    {"model.modulation.gate", "sigmoid"},
    {"model.modulation.granularity",
     "{q: column, k: column, v: column, out: row, up: column, down: column}"},
    {"model.modulation.targets", "[q, k, v, out, up, down]"},
    {"model.modulation.share_qkv", "true"},
};

/// Common to both models with generated weights in the first study's public program: temporal
/// linears and temporal norms of width 64 over 65 geometric features.
constexpr Row kPublishedGenerated[] = {
    {"model.family", "tong"},
    {"model.d_model", "256"},
    {"model.n_layers", "6"},
    {"model.n_heads", "4"},
    {"model.d_ff", "1024"},
    {"model.norm", "pre"},
    {"model.norm_kind", "temporal_layer_norm"},
    {"model.temporal_norm.hidden", "64"},
    {"model.positions", "none"},
    {"model.activation", "gelu_tanh"},
    {"model.attention.bias", "true"},
    {"model.mlp.bias", "true"},
    {"model.tie_embeddings", "false"},
    {"model.time.nodes", "right"},
    {"model.time.dependence", "layer"},
    {"model.time_features.kind", "geometric"},
    {"model.time_features.frequencies", "32"},
    {"model.time_features.include_t", "true"},
    {"model.time_features.t_scale", "1000"},
    {"model.time_features.base", "10000"},
    {"model.hypernet.hidden", "64"},
    {"model.hypernet.depth", "2"},
    {"model.hypernet.activation", "silu"},
    {"model.hypernet.generate_bias", "true"},
    {"model.hypernet.share_qkv", "true"},
};

/// One such block for all layers, under Euler: 51,512,960 parameters with V = 256.
constexpr Row kPublishedTong[] = {
    {"model.share", "all"},
    {"model.sublayers", "parallel"},
    {"model.final_norm", "layer_norm"},
    {"model.residual.scale", "1/L"},
};

/// That study's "standard transformer": six blocks of generated weights, each at its own
/// depth-time, with sequential sublayers. 308,460,480 parameters with V = 256.
constexpr Row kPublishedStandard[] = {
    {"model.share", "none"},
    {"model.sublayers", "sequential"},
    {"model.final_norm", "temporal_layer_norm"},
    {"model.residual.scale", "1"},
};

/// The state-space arm of the same code: A (diagonal), B, C, D and Δ are generated from depth-time,
/// not shared, each with a linear gate per entry; B̄ = Δ B. 4,901,760 parameters with V = 256.
constexpr Row kPublishedTimeIndexedSsm[] = {
    {"model.family", "time_indexed"},
    {"model.mixer", "ssm"},
    {"model.d_model", "256"},
    {"model.n_layers", "6"},
    {"model.n_heads", "4"},
    {"model.sublayers", "sequential"},
    {"model.norm", "pre"},
    {"model.norm_kind", "temporal_layer_norm"},
    {"model.final_norm", "temporal_layer_norm"},
    {"model.temporal_norm.hidden", "64"},
    {"model.positions", "none"},
    {"model.attention.bias", "false"},
    {"model.tie_embeddings", "false"},
    {"model.residual.scale", "1"},
    {"model.time.nodes", "right"},
    {"model.time.dependence", "layer"},
    {"model.time_features.kind", "geometric"},
    {"model.time_features.frequencies", "32"},
    {"model.time_features.include_t", "true"},
    {"model.time_features.t_scale", "1000"},
    {"model.time_features.base", "10000"},
    {"model.modulation.hidden", "0"},
    {"model.modulation.gate", "sigmoid"},
    {"model.modulation.granularity", "{q: column, k: column, v: column, out: row}"},
    {"model.modulation.targets", "[q, k, v, out]"},
    {"model.modulation.share_qkv", "true"},
    {"model.ssm.state_size", "64"},
    {"model.ssm.A", "diagonal"},
    {"model.ssm.D", "diagonal"},
    {"model.ssm.discretisation", "euler"},
    {"model.ssm.granularity", "element"},
    {"model.ssm.parameters", "generated"},
    {"model.ssm.dt_min", "1e-4"},
    {"model.hypernet.hidden", "64"},
};

/// The third study as its text has it: all tokens pass in training, raw scalars, unit weights, no
/// norms before network and router, only the targets detached, a student with threshold 0.5.
constexpr Row kTdtLiteral[] = {
    {"model.family", "tdt"},
    {"model.tdt.train_path", "dense"},
    {"model.tdt.ma_window", "100"},
    {"model.tdt.scalars", "raw"},
    {"model.tdt.tpn.norm", "none"},
    {"model.tdt.tpn.output_init", "xavier"},
    {"model.tdt.tpn.detach_input", "false"},
    {"model.tdt.router.input_norm", "none"},
    {"model.tdt.router.detach_input", "false"},
    {"model.tdt.lambda_tpn", "1"},
    {"model.tdt.lambda_causal", "1"},
    {"model.tdt.decider", "threshold"},
    {"model.tdt.threshold", "0.5"},
};

/// Its variant that learns to skip: the defaults.
constexpr Row kTdtDefault[] = {
    {"model.family", "tdt"},
    {"model.tdt.layers", "odd"},
    {"model.tdt.train_path", "gated_st"},
    {"model.tdt.ma_window", "100"},
    {"model.tdt.scalars", "softplus"},
    {"model.tdt.tpn.norm", "rms"},
    {"model.tdt.tpn.output_init", "normal"},
    {"model.tdt.tpn.detach_input", "true"},
    {"model.tdt.router.input_norm", "rms"},
    {"model.tdt.lambda_tpn", "0.05"},
    {"model.tdt.lambda_causal", "0.1"},
    {"model.tdt.decider", "calibrated"},
};

struct Preset {
  std::string_view name;
  std::span<const Row> rows;
  std::span<const Row> more = {};
};

constexpr Preset kPresets[] = {{"gpt", kGpt},
                               {"gpt2", kGpt2},
                               {"hybrid/baseline", kHybridSizes, kHybridBaseline},
                               {"hybrid/ode", kHybridSizes, kHybridOde},
                               {"published/standard", kPublishedGenerated, kPublishedStandard},
                               {"published/time_indexed_mlp", kPublishedTimeIndexedMlp},
                               {"published/time_indexed_ssm", kPublishedTimeIndexedSsm},
                               {"published/tong", kPublishedGenerated, kPublishedTong},
                               {"tdt/default", kTdtDefault},
                               {"tdt/literal", kTdtLiteral}};

PresetLeaf leaf_of(std::string_view preset, const Row& row, ValuePool& pool) {
  Diagnostics diagnostics;
  diagnostics.add_text("preset " + std::string(preset), std::string(row.yaml));
  const std::size_t leaf = leaf_index(row.path);
  const auto node = read_yaml(diagnostics, 0);
  const auto value = node ? leaf_value(schema()[leaf], *node, diagnostics) : std::nullopt;
  diagnostics.throw_if_failed();
  return {leaf, pool.intern(value.value())};
}

}  // namespace

std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool) {
  for (const Preset& preset : kPresets) {
    if (preset.name != name) continue;
    std::vector<PresetLeaf> out;
    for (const auto& rows : {preset.rows, preset.more}) {
      for (const Row& row : rows) out.push_back(leaf_of(name, row, pool));
    }
    return out;
  }
  throw Error("no preset '" + std::string(name) + "'");
}

}  // namespace depthgrid
