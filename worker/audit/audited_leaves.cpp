#include "worker/audit/audited_leaves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/family_facts.hpp"
#include "core/config/resolve/schema_condition.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 3> kNotOfThePass = {"model.seed", "model.init.from",
                                                           "model.tdt.dense_fraction"};

/// Leaves that act at some values of another one only.
struct ActsWith {
  std::string_view leaf, other, value;  // as JSON
};
constexpr ActsWith kActsWith[] = {
    {"model.tdt.min_k", "model.tdt.capacity", "0"},
    {"model.tdt.router.bias_init", "model.tdt.capacity", "0.25"},
    {"model.dropout.attention", "model.attention.implementation", "\"explicit\""}};

ModelOptions options_of_json(const nlohmann::json& leaves) {
  const CellConfig config = config_from_json(json_text(leaves));
  return model_options({&config});
}

bool may_differ(const Leaf& leaf) {
  return leaf.leaf_class == LeafClass::PerCell || leaf.leaf_class == LeafClass::PerCellUnion;
}

/// Whether anything in the pass reads a leaf whose condition holds.
bool acts(const Leaf& leaf, const ModelOptions& o) {
  if (leaf.path.starts_with("model.residual.")) return o.flow.replaced() < o.layers;
  if (leaf.path == "model.time.nodes") return !o.between_nodes();     // which needs left ones
  if (leaf.path == "model.rope_base") return o.width / o.heads >= 4;  // the first angle has no base
  if (leaf.path == "model.time_features.t_scale" || leaf.path == "model.time_features.base") {
    return std::ranges::find(o.time.constant, false) != o.time.constant.end() ||
           std::ranges::any_of(o.time.value, [](double t) { return t != 0; });  // sin 0, cos 0
  }
  if (leaf.path.starts_with("model.dropout.") || leaf.path == "model.init.residual_scaling") {
    return o.flow.replaced() < o.layers || o.flow.field != FieldKind::Mlp;  // which has none
  }
  return true;
}

/// Other values of a leaf; a leaf acts if one of them does.
std::vector<nlohmann::json> other_values(const Leaf& leaf, const nlohmann::json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_string()) {
    std::istringstream words{std::string(leaf.words)};
    std::vector<nlohmann::json> out;
    for (std::string word; words >> word;) {
      if (word != value && leaf.kind == ValueKind::Word) out.emplace_back(word);
    }
    return out;
  }
  if (!value.is_number()) return {};
  const double v = value.get<double>();
  const bool whole = leaf.kind == ValueKind::Int;
  std::vector<nlohmann::json> out;
  for (const double next :
       {whole ? v + 1 : v * 1.5, whole ? v - 1 : v / 2, 0.1, leaf.max, leaf.min}) {
    const bool inside = next >= leaf.min && next <= leaf.max && std::isfinite(next) &&
                        !(leaf.open_min && next == leaf.min) &&
                        !(leaf.open_max && next == leaf.max);
    if (!inside || next == v) continue;
    if (whole && next != std::floor(next)) continue;
    out.push_back(whole ? nlohmann::json(static_cast<std::int64_t>(next)) : nlohmann::json(next));
  }
  // Of a probability: its ends decide most.
  if (out.size() > 3) out.resize(leaf.max <= 1 ? out.size() : 2);
  return out;
}

}  // namespace

std::vector<AuditedLeaf> audited_leaves(const CellConfig& config) {
  const nlohmann::json leaves = parse_json(config.json());
  const ModelOptions o = model_options({&config});
  std::vector<AuditedLeaf> out;
  for (const Leaf& leaf : schema()) {
    const bool of_model = leaf.path.starts_with("model.") && may_differ(leaf) &&
                          std::ranges::find(kNotOfThePass, leaf.path) == kNotOfThePass.end();
    if (!of_model || !acts(leaf, o)) continue;
    if (!SchemaCondition(leaf.read_when).holds(config.lookup())) continue;
    nlohmann::json base = leaves;
    for (const ActsWith& with : kActsWith) {
      if (with.leaf == leaf.path) base[std::string(with.other)] = parse_json(with.value);
    }
    const std::string path(leaf.path);
    AuditedLeaf audited{.path = path};
    if (base != leaves) audited.base = [base] { return options_of_json(base); };
    for (const nlohmann::json& value : other_values(leaf, base.at(path))) {
      nlohmann::json changed = base;
      changed[path] = value;
      audited.changed.emplace_back([changed] { return options_of_json(changed); });
    }
    if (!audited.changed.empty()) out.push_back(std::move(audited));
  }
  return out;
}

}  // namespace depthgrid
