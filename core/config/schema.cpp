#include "core/config/schema.hpp"

#include <unordered_map>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kEllipsis = "…";

std::string bound(ValueKind kind, double number) {
  // 2^63 - 1 is not a double; it is the bound of seeds only.
  if (number > 9e18) return "2^63 − 1";
  return kind == ValueKind::Int ? std::to_string(static_cast<std::int64_t>(number))
                                : shortest(number);
}

std::vector<Leaf> all_leaves() {
  std::vector<Leaf> leaves;
  for (const auto sections : {model_sections(), flow_sections(), routing_sections(),
                              data_sections(), train_sections(), run_sections()}) {
    for (const auto& section : sections) {
      leaves.insert(leaves.end(), section.leaves.begin(), section.leaves.end());
    }
  }
  return leaves;
}

const std::vector<Leaf>& table() {
  static const std::vector<Leaf> leaves = all_leaves();
  return leaves;
}

/// Defaults are null, a scalar or a list of words: too simple to need a YAML parser.
YamlNode default_node(std::string_view text) {
  YamlNode node;
  if (text == "null") return node;
  if (text.front() != '[') {
    node.kind = YamlNode::Kind::Scalar;
    node.text = text;
    return node;
  }
  node.kind = YamlNode::Kind::List;
  std::string words(text.substr(1, text.size() - 2));
  std::erase(words, ',');
  for (const auto& one : split_words(words)) node.items.push_back(node_of(Value(one), Place()));
  return node;
}

std::vector<Value> all_defaults() {
  std::vector<Value> values;
  Diagnostics diagnostics;
  for (const Leaf& leaf : table()) {
    const auto value = leaf_value(leaf, default_node(leaf.default_text), diagnostics);
    if (!value) throw Error("the default of " + std::string(leaf.path) + " is none of its values");
    values.push_back(*value);
  }
  return values;
}

}  // namespace

std::string Leaf::type() const {
  const bool both = !words.empty();
  switch (kind) {
    case ValueKind::Bool:
      return "bool";
    case ValueKind::Int:
      return both ? "int or word" : "int";
    case ValueKind::Real:
      return both ? "real or word" : "real";
    case ValueKind::Word:
      return "word";
    case ValueKind::Text:
      return "text";
    case ValueKind::WordList:
      return "list of words";
    case ValueKind::TextList:
      return "text or list of texts";
    case ValueKind::StepList:
      return "list of steps or percentages";
    case ValueKind::LayerList:
      return both ? "word or list of layers" : "list of layers";
    case ValueKind::LayerRange:
      return "range of layers [a, b]";
    case ValueKind::TargetMap:
      return "word, or map from target to word";
  }
  return "";
}

std::string Leaf::range() const {
  std::string out;
  if (kind == ValueKind::Int || kind == ValueKind::Real) {
    if (max == kUnlimited) {
      out = (open_min ? "> " : "≥ ") + bound(kind, min);
    } else {
      out = bound(kind, min) + std::string(kEllipsis) + bound(kind, max);
      if (open_min) out += ", " + bound(kind, min) + " excluded";
      if (open_max) out += ", " + bound(kind, max) + " excluded";
    }
  }
  for (const auto& one : split_words(words)) out += (out.empty() ? "" : ", ") + one;
  return out;
}

std::span<const Leaf> schema() {
  return table();
}

std::size_t find_leaf(std::string_view path) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, std::size_t> map;
    for (std::size_t i = 0; i < table().size(); ++i) map.emplace(table()[i].path, i);
    return map;
  }();
  const auto found = rows.find(path);
  return found == rows.end() ? table().size() : found->second;
}

std::size_t leaf_index(std::string_view path) {
  const std::size_t row = find_leaf(path);
  if (row == table().size()) throw Error("no leaf '" + std::string(path) + "' in the schema");
  return row;
}

const Value& default_value(std::size_t leaf) {
  static const std::vector<Value> values = all_defaults();
  return values.at(leaf);
}

std::string_view name_of(LeafClass leaf_class) {
  switch (leaf_class) {
    case LeafClass::PerCell:
      return "PerCell";
    case LeafClass::PerCellUnion:
      return "PerCell*";
    case LeafClass::Structural:
      return "Structural";
    case LeafClass::Execution:
      return "Execution";
    case LeafClass::Observation:
      return "Observation";
  }
  return "";
}

}  // namespace depthgrid
