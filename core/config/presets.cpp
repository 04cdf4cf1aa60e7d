#include "core/config/presets.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/value_pool.hpp"

namespace depthgrid {
namespace {

// What a sweep file would have under `model:`.

/// A plain GPT of the first study's size: 4,902,912 parameters with V = 256, T = 128.
constexpr std::string_view kGpt = R"({
  family: standard, d_model: 256, n_layers: 6, n_heads: 4, sublayers: sequential, norm: pre,
  norm_kind: layer_norm, final_norm: layer_norm, positions: learned, activation: gelu,
  attention: {bias: true}, mlp: {bias: true}, tie_embeddings: false, residual: {scale: 1},
  share: none})";

/// GPT-2 small: 124,439,808 parameters. Source: Radford et al. (2019), table 2, and its released
/// weights.
constexpr std::string_view kGpt2 = R"({
  family: standard, d_model: 768, n_layers: 12, n_heads: 12, d_ff: 3072, vocab_size: 50257,
  max_seq_len: 1024, sublayers: sequential, share: none, norm: pre, norm_kind: layer_norm,
  final_norm: layer_norm, norm_eps: 1e-5, positions: learned, activation: gelu_tanh,
  attention: {bias: true}, mlp: {bias: true}, tie_embeddings: true, residual: {scale: 1}})";

/// Common to both arms of the second study.
constexpr std::string_view kHybridSizes = R"({
  d_model: 256, n_layers: 6, n_heads: 4, d_ff: 1024, vocab_size: 50257, max_seq_len: 128,
  sublayers: sequential, norm: pre, norm_kind: layer_norm, final_norm: layer_norm, norm_eps: 1e-5,
  positions: learned, activation: gelu, attention: {bias: true}, mlp: {bias: true},
  tie_embeddings: false, residual: {scale: 1}, dropout: {attention: 0.1, mlp: 0.1},
  init: {scheme: pytorch}})";

/// The six-block baseline of the second study's hybrid: 30,503,424 parameters. A table of 128
/// positions, dropout 0.1 on attention and after the MLP, PyTorch's initialisation.
constexpr std::string_view kHybridBaseline = "{family: standard, share: none}";

/// The second study's hybrid: the baseline with a flow in place of layers 2 and 3, four Euler steps
/// over a field with attention, time and control inputs: 29,781,249 parameters.
constexpr std::string_view kHybridOde = R"({
  family: hybrid_ode, replaced_layers: [2, 4],
  field: {kind: attention_mlp, hidden: 1024, activation: gelu, sublayers: parallel,
          time_embedding: mlp, alpha_init: 0.1, alpha_learned: true, dropout_mask: per_evaluation},
  solver: {method: euler, steps: 4}, control: {dim: 4, neutral: bias}})";

/// Depth-time in the first study's public program: 65 geometric features.
constexpr std::string_view kGeometricTime = R"({
  time: {nodes: right, dependence: layer},
  time_features: {kind: geometric, frequencies: 32, include_t: true, t_scale: 1000, base: 10000}})";

/// The shapes of the first study's public code: one linear gate per weight type, on the input of
/// q, k, v (shared), up and down, on the output of out; feed-forward of width d; three temporal
/// norms; sequential sublayers. 715,840 parameters with V = 256.
constexpr std::string_view kTimeIndexedMlp = R"({
  family: time_indexed, mixer: mlp, d_model: 256, n_layers: 6, n_heads: 4, d_ff: 256,
  sublayers: sequential, norm: pre, norm_kind: temporal_layer_norm,
  final_norm: temporal_layer_norm, temporal_norm: {hidden: 64}, positions: none,
  activation: gelu_tanh, attention: {bias: false}, mlp: {bias: true}, tie_embeddings: false,
  residual: {scale: 1}})";
constexpr std::string_view kTimeIndexedMlpGates = R"({
  modulation: {hidden: 0, gate: sigmoid,
               granularity: {q: column, k: column, v: column, out: row, up: column, down: column},
               targets: [q, k, v, out, up, down], share_qkv: true}})";

/// Common to both models with generated weights in the first study's public program: temporal
/// linears and temporal norms of width 64 over the features above.
constexpr std::string_view kGenerated = R"({
  family: tong, d_model: 256, n_layers: 6, n_heads: 4, d_ff: 1024, norm: pre,
  norm_kind: temporal_layer_norm, temporal_norm: {hidden: 64}, positions: none,
  activation: gelu_tanh, attention: {bias: true}, mlp: {bias: true}, tie_embeddings: false})";
constexpr std::string_view kGenerators = R"({
  hypernet: {hidden: 64, depth: 2, activation: silu, generate_bias: true, share_qkv: true}})";

/// One such block for all layers, under Euler: 51,512,960 parameters with V = 256.
constexpr std::string_view kPublishedTong =
    "{share: all, sublayers: parallel, final_norm: layer_norm, residual: {scale: 1/L}}";

/// That study's "standard transformer": six blocks of generated weights, each at its own
/// depth-time, with sequential sublayers. 308,460,480 parameters with V = 256.
constexpr std::string_view kPublishedStandard =
    "{share: none, sublayers: sequential, final_norm: temporal_layer_norm, residual: {scale: 1}}";

/// The state-space arm of the same code: A (diagonal), B, C, D and Δ are generated from depth-time,
/// not shared, each with a linear gate per entry; B̄ = Δ B. 4,901,760 parameters with V = 256.
constexpr std::string_view kTimeIndexedSsm = R"({
  family: time_indexed, mixer: ssm, d_model: 256, n_layers: 6, n_heads: 4, sublayers: sequential,
  norm: pre, norm_kind: temporal_layer_norm, final_norm: temporal_layer_norm,
  temporal_norm: {hidden: 64}, positions: none, attention: {bias: false}, tie_embeddings: false,
  residual: {scale: 1}})";
constexpr std::string_view kTimeIndexedSsmGates = R"({
  modulation: {hidden: 0, gate: sigmoid,
               granularity: {q: column, k: column, v: column, out: row}, targets: [q, k, v, out],
               share_qkv: true},
  ssm: {state_size: 64, A: diagonal, D: diagonal, discretisation: euler, granularity: element,
        parameters: generated, dt_min: 1e-4},
  hypernet: {hidden: 64}})";

/// The third study's text taken literally: all tokens pass in training, raw scalars, unit weights,
/// no norms before network and router, only the targets detached, a student with threshold 0.5.
constexpr std::string_view kTdtLiteral = R"({
  family: tdt,
  tdt: {train_path: dense, ma_window: 100, scalars: raw,
        tpn: {norm: none, output_init: xavier, detach_input: false},
        router: {input_norm: none, detach_input: false},
        lambda_tpn: 1, lambda_causal: 1, decider: threshold, threshold: 0.5}})";

/// Its variant that learns to skip: the defaults.
constexpr std::string_view kTdtDefault = R"({
  family: tdt,
  tdt: {layers: odd, train_path: gated_st, ma_window: 100, scalars: softplus,
        tpn: {norm: rms, output_init: normal, detach_input: true}, router: {input_norm: rms},
        lambda_tpn: 0.05, lambda_causal: 0.1, decider: calibrated}})";

struct Preset {
  std::string_view name;
  std::array<std::string_view, 4> parts;
};

constexpr Preset kPresets[] = {
    {"gpt", {kGpt}},
    {"gpt2", {kGpt2}},
    {"hybrid/baseline", {kHybridSizes, kHybridBaseline}},
    {"hybrid/ode", {kHybridSizes, kHybridOde}},
    {"published/standard", {kGenerated, kGeometricTime, kGenerators, kPublishedStandard}},
    {"published/time_indexed_mlp", {kTimeIndexedMlp, kGeometricTime, kTimeIndexedMlpGates}},
    {"published/time_indexed_ssm", {kTimeIndexedSsm, kGeometricTime, kTimeIndexedSsmGates}},
    {"published/tong", {kGenerated, kGeometricTime, kGenerators, kPublishedTong}},
    {"tdt/default", {kTdtDefault}},
    {"tdt/literal", {kTdtLiteral}}};

void add_leaves(std::vector<PresetLeaf>& out, const std::string& path, const YamlNode& node,
                ValuePool& pool, Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Map && find_leaf(path) == schema().size()) {
    for (const YamlEntry& entry : node.entries) {
      add_leaves(out, path + "." + entry.key, entry.value, pool, diagnostics);
    }
    return;
  }
  const std::size_t leaf = leaf_index(path);
  const auto value = leaf_value(schema()[leaf], node, diagnostics);
  if (value) out.push_back({leaf, pool.intern(*value)});
}

}  // namespace

std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool) {
  const auto* const preset = std::ranges::find(kPresets, name, &Preset::name);
  if (preset == std::end(kPresets)) throw Error("no preset '" + std::string(name) + "'");
  std::vector<PresetLeaf> out;
  Diagnostics diagnostics;
  for (const std::string_view part : preset->parts) {
    if (part.empty()) continue;
    const int text = diagnostics.add_text("preset " + std::string(name), std::string(part));
    const auto node = read_yaml(diagnostics, text);
    if (node) add_leaves(out, "model", *node, pool, diagnostics);
  }
  diagnostics.throw_if_failed();
  return out;
}

std::vector<PresetChange> preset_changes(const CellConfig& config) {
  std::vector<PresetChange> changes;
  if (config.null("model.preset")) return changes;
  const std::string& name = config.word("model.preset");
  const CellConfig pure = make_config({{"model.preset", Value(name)}});
  ValuePool pool;
  for (const PresetLeaf& row : preset_leaves(name, pool)) {
    const std::string_view leaf = schema()[row.leaf].path;
    if (pure.at(leaf) == config.at(leaf)) continue;
    changes.push_back(
        {std::string(leaf), canonical_json(pure.at(leaf)), canonical_json(config.at(leaf))});
  }
  return changes;
}

}  // namespace depthgrid
