#include "core/config/presets.hpp"

#include <span>

#include "core/base/error.hpp"
#include "core/config/leaf_value.hpp"
#include "core/config/schema.hpp"

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
};

/// The shapes of the first study's public code: one linear gate a weight type, on the input of
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

/// The state-space arm of the same code: A (diagonal), B, C, D and Δ are generated from depth-time,
/// not shared, each under a linear gate per entry; B̄ = Δ B. 4,901,760 parameters with V = 256.
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

struct Preset {
  std::string_view name;
  std::span<const Row> rows;
};

constexpr Preset kPresets[] = {{"gpt", kGpt},
                               {"published/time_indexed_mlp", kPublishedTimeIndexedMlp},
                               {"published/time_indexed_ssm", kPublishedTimeIndexedSsm}};

}  // namespace

std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool) {
  for (const Preset& preset : kPresets) {
    if (preset.name != name) continue;
    std::vector<PresetLeaf> out;
    for (const Row& row : preset.rows) {
      Diagnostics diagnostics;
      diagnostics.add_text("preset " + std::string(name), std::string(row.yaml));
      const std::size_t leaf = leaf_index(row.path);
      const auto node = read_yaml(diagnostics, 0);
      const auto value = node ? leaf_value(schema()[leaf], *node, diagnostics) : std::nullopt;
      diagnostics.throw_if_failed();
      out.push_back({leaf, pool.intern(value.value())});
    }
    return out;
  }
  throw Error("no preset '" + std::string(name) + "'");
}

}  // namespace depthgrid
