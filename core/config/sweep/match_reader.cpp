#include <algorithm>

#include "core/config/schema.hpp"
#include "core/config/sweep/sweep_reader.hpp"

namespace depthgrid {
namespace {

/// 0.01, or "1 %".
std::optional<double> read_tolerance(const YamlNode& node, Diagnostics& diagnostics) {
  const auto percent = percentage(node);
  const auto value = read_number(percent.value_or(node), "match.tolerance", diagnostics);
  if (!value) return std::nullopt;
  const double share = percent ? *value / 100 : *value;
  if (share < 0 || share > 1) {
    diagnostics.error(node.place,
                      "`match.tolerance`: expected a share from 0 to 1, or a "
                      "percentage such as 1 %, found " +
                          node.described());
    return std::nullopt;
  }
  return share;
}

/// Row of a leaf that can be a width: a structural integer.
std::optional<std::size_t> read_width(const YamlNode& node, LeafReader& leaves,
                                      Diagnostics& diagnostics) {
  const auto path = read_text(node, "match.vary", diagnostics);
  if (!path) return std::nullopt;
  const std::size_t leaf = find_leaf(*path);
  if (leaf == schema().size()) {
    leaves.unknown(*path, node.place);
    return std::nullopt;
  }
  const Leaf& row = schema()[leaf];
  if (row.kind != ValueKind::Int || row.leaf_class != LeafClass::Structural ||
      !row.path.starts_with("model.")) {
    diagnostics.error(node.place, "`match.vary`: `" + *path +
                                      "` is no width of a model: name a structural integer such "
                                      "as model.d_ff, model.d_model or model.modulation.hidden");
    return std::nullopt;
  }
  return leaf;
}

std::optional<MatchRow> read_rule(const YamlNode& node, LeafReader& leaves,
                                  Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Map) {
    diagnostics.error(
        node.place, "`match`: expected a rule such as {on: parameters, vary: model.d_ff}, found " +
                        node.described());
    return std::nullopt;
  }
  MatchRow rule;
  rule.place = node.place;
  rule.vary = leaf_index("model.d_ff");
  bool sound = true;
  if (node.find("on") == nullptr) {
    diagnostics.error(node.place, "`match`: a rule needs `on`: parameters, flops or time");
    sound = false;
  }
  for (const auto& [key, place, value] : node.entries) {
    if (key == "on") {
      const auto word =
          read_word(value, "match.on", {kMatchOnNames.begin(), kMatchOnNames.end()}, diagnostics);
      if (word) {
        rule.on =
            static_cast<MatchOn>(std::ranges::find(kMatchOnNames, *word) - kMatchOnNames.begin());
      }
      sound = sound && word;
    } else if (key == "tolerance") {
      const auto share = read_tolerance(value, diagnostics);
      if (share) rule.tolerance = *share;
      sound = sound && share;
    } else if (key == "vary") {
      const auto leaf = read_width(value, leaves, diagnostics);
      if (leaf) rule.vary = *leaf;
      sound = sound && leaf;
    } else if (key == "reference") {
      rule.reference = read_selection(value, "match.reference", leaves, diagnostics);
    } else if (key == "arms") {
      rule.arms = read_selection(value, "match.arms", leaves, diagnostics);
    } else {
      diagnostics.error(
          place, "unknown key '" + key + "' in `match` (on, tolerance, vary, reference, arms)");
      sound = false;
    }
  }
  if (!sound) return std::nullopt;
  return rule;
}

}  // namespace

ArmSelection read_selection(const YamlNode& node, std::string_view what, LeafReader& leaves,
                            Diagnostics& diagnostics) {
  ArmSelection selection;
  selection.place = node.place;
  leaves.walk_map(node, "tag", [&](std::size_t leaf, Place key, const YamlNode& value) {
    if (auto one = leaves.condition(leaf, key, value))
      selection.conditions.push_back(std::move(*one));
  });
  if (const YamlNode* tag = node.find("tag")) {
    const std::string name = std::string(what) + ".tag";
    if (const auto text = read_text(*tag, name, diagnostics)) selection.tag = *text;
  }
  return selection;
}

std::vector<MatchRow> read_match(const YamlNode& node, LeafReader& leaves,
                                 Diagnostics& diagnostics) {
  std::vector<MatchRow> out;
  if (node.kind == YamlNode::Kind::Null) return out;
  const std::vector<YamlNode> rules =
      node.kind == YamlNode::Kind::List ? node.items : std::vector<YamlNode>{node};
  for (const YamlNode& rule : rules) {
    if (auto row = read_rule(rule, leaves, diagnostics)) out.push_back(std::move(*row));
  }
  return out;
}

}  // namespace depthgrid
