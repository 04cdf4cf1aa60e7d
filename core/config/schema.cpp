#include "core/config/schema.hpp"

#include <unordered_map>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

std::string bound(ValueKind kind, double number) {
  // 2^63 - 1 is not a double; it is the bound of seeds only.
  if (number > 9e18) return "2^63 − 1";
  return kind == ValueKind::Int ? std::to_string(static_cast<std::int64_t>(number))
                                : shortest(number);
}

struct SchemaTable {
  std::vector<Leaf> leaves;
  std::vector<SchemaSection> sections;  // of `leaves`

  SchemaTable() {
    for (const auto part : {model_sections(), flow_sections(), control_sections(),
                            routing_sections(), data_sections(), train_sections(),
                            regulariser_sections(), run_sections(), probe_sections()}) {
      sections.insert(sections.end(), part.begin(), part.end());
    }
    for (const SchemaSection& section : sections) {
      for (Leaf leaf : section.leaves) {
        if (leaf.read_when.empty()) leaf.read_when = section.read_when;
        leaves.push_back(leaf);
      }
    }
    auto row = leaves.cbegin();
    for (SchemaSection& section : sections) {
      section.leaves = {row, section.leaves.size()};
      row += static_cast<std::ptrdiff_t>(section.leaves.size());
    }
  }
};

const SchemaTable& table() {
  static const SchemaTable all;
  return all;
}

/// Defaults are null, a scalar, a list of words or numbers or one key with a scalar: too simple to
/// need a YAML parser.
YamlNode default_node(std::string_view text) {
  if (text == "null") return {};
  if (text.front() == '{') {
    const auto colon = text.find(": ");
    YamlNode node = {.kind = YamlNode::Kind::Map};
    node.entries.push_back({std::string(text.substr(1, colon - 1)), Place(),
                            default_node(text.substr(colon + 2, text.size() - colon - 3))});
    return node;
  }
  if (text.front() != '[') return {.kind = YamlNode::Kind::Scalar, .text = std::string(text)};
  YamlNode node = {.kind = YamlNode::Kind::List};
  std::string words(text.substr(1, text.size() - 2));
  std::erase(words, ',');
  for (const auto& one : split_words(words)) {
    node.items.push_back({.kind = YamlNode::Kind::Scalar, .text = one});
  }
  return node;
}

std::vector<Value> all_defaults() {
  std::vector<Value> values;
  Diagnostics diagnostics;
  for (const Leaf& leaf : schema()) {
    const auto value = leaf_value(leaf, default_node(leaf.default_text), diagnostics);
    if (!value) throw Error("the default of " + std::string(leaf.path) + " is none of its values");
    values.push_back(*value);
  }
  return values;
}

}  // namespace

std::string Leaf::type() const {
  constexpr std::string_view kNames[] = {"bool",
                                         "int",
                                         "real",
                                         "word",
                                         "text",
                                         "list of words",
                                         "text or list of texts",
                                         "list of steps or percentages",
                                         "list of layers",
                                         "range of layers [a, b]",
                                         "word, or map from target to word",
                                         "schedule",
                                         "list of numbers"};
  const std::string name(kNames[static_cast<std::size_t>(kind)]);
  if (words.empty() || kind == ValueKind::Schedule) return name;
  if (kind == ValueKind::LayerList) return "word or " + name;
  return kind == ValueKind::Int || kind == ValueKind::Real ? name + " or word" : name;
}

std::string Leaf::range() const {
  std::string out;
  if (kind == ValueKind::Int || kind == ValueKind::Real || kind == ValueKind::RealList) {
    if (max == kUnlimited && min == -kUnlimited) {
      out = "";
    } else if (max == kUnlimited) {
      out = (open_min ? "> " : "≥ ") + bound(kind, min);
    } else {
      out = bound(kind, min) + "…" + bound(kind, max);
      if (open_min) out += ", " + bound(kind, min) + " excluded";
      if (open_max) out += ", " + bound(kind, max) + " excluded";
    }
  }
  for (const auto& one : split_words(words)) out += (out.empty() ? "" : ", ") + one;
  if (kind == ValueKind::Schedule) out += ", {every: n}, {at: […]}, {log_spaced: n}";
  return out;
}

std::span<const Leaf> schema() {
  return table().leaves;
}

std::span<const SchemaSection> schema_sections() {
  return table().sections;
}

std::size_t find_leaf(std::string_view path) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, std::size_t> map;
    for (std::size_t i = 0; i < schema().size(); ++i) map.emplace(schema()[i].path, i);
    return map;
  }();
  const auto found = rows.find(path);
  return found == rows.end() ? schema().size() : found->second;
}

std::size_t leaf_index(std::string_view path) {
  const std::size_t row = find_leaf(path);
  if (row == schema().size()) throw Error("no leaf '" + std::string(path) + "' in the schema");
  return row;
}

const Value& default_value(std::size_t leaf) {
  static const std::vector<Value> values = all_defaults();
  return values.at(leaf);
}

std::string_view name_of(LeafClass leaf_class) {
  constexpr std::string_view kNames[] = {"PerCell", "PerCell*", "Structural", "Execution",
                                         "Observation"};
  return kNames[static_cast<std::size_t>(leaf_class)];
}

}  // namespace depthgrid
