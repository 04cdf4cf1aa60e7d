#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

Json plain(const Value& value) {
  return parse_ordered_json(canonical_json(value));
}

Json words_schema(const Leaf& leaf) {
  return {{"enum", split_words(leaf.words)}};
}

Json number_schema(const Leaf& leaf) {
  const bool integer = leaf.kind == ValueKind::Int;
  Json out = {{"type", integer ? "integer" : "number"}};
  const auto bound = [&](const char* name, double number) {
    if (std::isinf(number)) return;
    // The bound of seeds, 2^63 - 1, is not a double; the type suffices.
    if (integer && std::abs(number) < 9e18) {
      out[name] = static_cast<std::int64_t>(number);
    } else if (!integer) {
      out[name] = number;
    }
  };
  bound(leaf.open_min ? "exclusiveMinimum" : "minimum", leaf.min);
  bound(leaf.open_max ? "exclusiveMaximum" : "maximum", leaf.max);
  return out;
}

/// A step, or a share of the training.
Json step_schema() {
  return {{"anyOf", Json::array({{{"type", "integer"}, {"minimum", 0}},
                                 {{"type", "string"}, {"pattern", "^[0-9.]+ ?%$"}}})}};
}

/// Schema of one value of the leaf.
Json value_schema(const Leaf& leaf) {
  Json alternatives = Json::array();
  switch (leaf.kind) {
    case ValueKind::Bool:
      alternatives.push_back({{"type", "boolean"}});
      break;
    case ValueKind::Int:
    case ValueKind::Real:
      alternatives.push_back(number_schema(leaf));
      if (!leaf.words.empty()) alternatives.push_back(words_schema(leaf));
      break;
    case ValueKind::Word:
      alternatives.push_back(words_schema(leaf));
      break;
    case ValueKind::Text:
      alternatives.push_back({{"type", "string"}});
      break;
    case ValueKind::WordList:
      alternatives.push_back(
          {{"type", "array"}, {"items", words_schema(leaf)}, {"uniqueItems", true}});
      break;
    case ValueKind::TextList:
      alternatives.push_back({{"type", "string"}});
      alternatives.push_back({{"type", "array"}, {"items", {{"type", "string"}}}});
      break;
    case ValueKind::StepList:
      alternatives.push_back({{"type", "array"}, {"items", step_schema()}});
      break;
    case ValueKind::LayerList:
      if (!leaf.words.empty()) alternatives.push_back(words_schema(leaf));
      alternatives.push_back({{"type", "array"},
                              {"items", {{"type", "integer"}, {"minimum", 0}}},
                              {"minItems", 1},
                              {"uniqueItems", true}});
      break;
    case ValueKind::LayerRange:
      alternatives.push_back({{"type", "array"},
                              {"items", {{"type", "integer"}, {"minimum", 0}}},
                              {"minItems", 2},
                              {"maxItems", 2}});
      break;
    case ValueKind::RealList:
      alternatives.push_back({{"type", "array"}, {"items", number_schema(leaf)}, {"minItems", 1}});
      break;
    case ValueKind::TargetMap: {
      const Leaf& targets = schema()[leaf_index("model.modulation.targets")];
      alternatives.push_back(words_schema(leaf));
      alternatives.push_back({{"type", "object"},
                              {"propertyNames", words_schema(targets)},
                              {"additionalProperties", words_schema(leaf)}});
      break;
    }
    case ValueKind::Schedule: {
      const Json count = {{"type", "integer"}, {"minimum", 1}};
      alternatives.push_back(words_schema(leaf));
      alternatives.push_back({{"type", "object"},
                              {"properties",
                               {{"every", count},
                                {"log_spaced", count},
                                {"at", {{"type", "array"}, {"items", step_schema()}}}}},
                              {"minProperties", 1},
                              {"maxProperties", 1},
                              {"additionalProperties", false}});
      break;
    }
  }
  if (leaf.nullable) alternatives.push_back({{"type", "null"}});
  return alternatives.size() == 1 ? alternatives[0] : Json{{"anyOf", alternatives}};
}

Json described(const Leaf& leaf) {
  Json out = value_schema(leaf);
  out["description"] = std::string(leaf.doc);
  out["default"] = plain(default_value(find_leaf(leaf.path)));
  return out;
}

/// A reference, so that each leaf is defined once.
Json reference(const Leaf& leaf) {
  return {{"$ref", "#/definitions/" + std::string(leaf.path)}};
}

Json strings() {
  return {{"type", "array"}, {"items", {{"type", "string"}}}};
}

/// Levels of a factor: a list, one value, or the four forms of a map.
Json levels_schema(const Leaf& leaf) {
  const Json one = reference(leaf);
  const Json list = {{"type", "array"}, {"items", one}, {"minItems", 1}};
  Json range = {
      {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}};
  const auto form = [](const char* name, const Json& content) {
    return Json{{"type", "object"},
                {"properties", {{name, content}}},
                {"required", Json::array({name})},
                {"additionalProperties", false}};
  };
  Json forms = Json::array({one, list, form("values", list), form("value", one)});
  if (leaf.kind == ValueKind::Int || leaf.kind == ValueKind::Real) {
    forms.push_back(form("linspace", range));
    forms.push_back(form("logspace", range));
  }
  return {{"anyOf", forms}};
}

/// A map whose keys are leaves that may differ between cells.
template <class Content>
Json leaf_map(Content content) {
  Json properties = Json::object();
  for (const Leaf& leaf : schema()) {
    if (leaf.leaf_class == LeafClass::Execution && leaf.path != "model.preset") continue;
    properties[std::string(leaf.path)] = content(leaf);
  }
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

Json with_tag(Json map) {
  map["properties"]["tag"] = {{"type", "string"}};
  return map;
}

Json rows(Json row) {
  return {{"type", "array"}, {"items", std::move(row)}};
}

/// Puts a leaf into nested objects by the parts of its path.
void nest(Json& properties, std::string_view path, const Json& content) {
  const auto dot = path.find('.');
  Json& here = properties[std::string(path.substr(0, dot))];
  if (dot == std::string_view::npos) {
    here = content;
    return;
  }
  if (here.is_null()) {
    here = {{"type", Json::array({"object", "null"})},
            {"properties", Json::object()},
            {"additionalProperties", false}};
  }
  nest(here["properties"], path.substr(dot + 1), content);
}

Json grid_properties() {
  const auto match = [](const Leaf& leaf) {
    const Json one = reference(leaf);
    return Json{{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}}})}};
  };
  const auto one = [](const Leaf& leaf) { return reference(leaf); };
  const Json factors = {{"$ref", "#/definitions/factors"}};
  Json grid;
  grid["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}};
  grid["description"] = {{"type", "string"}};
  grid["method"] = {{"enum", {"grid", "ablation", "list"}}};
  grid["pairs"] = {{"type", "boolean"}};
  grid["metric"] = {
      {"type", "object"},
      {"properties",
       {{"name", {{"type", "string"}}}, {"goal", {{"enum", {"minimize", "maximize"}}}}}},
      {"additionalProperties", false}};
  grid["base"] = {{"anyOf", Json::array({{{"type", "string"}}, strings(), {{"type", "null"}}})}};
  grid["parameters"] = factors;
  grid["zip"] = rows(factors);
  grid["when"] = rows({{"type", "object"},
                       {"properties", {{"if", leaf_map(match)}, {"parameters", factors}}},
                       {"required", {"if", "parameters"}},
                       {"additionalProperties", false}});
  grid["exclude"] = rows(leaf_map(match));
  grid["include"] = rows(with_tag(leaf_map(one)));
  grid["baseline"] = with_tag(leaf_map(match));
  Json rule = {{"type", "object"},
               {"properties",
                {{"on", {{"enum", kMatchOnNames}}},
                 {"vary", {{"type", "string"}}},
                 {"tolerance",
                  {{"anyOf", Json::array({{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
                                          {{"type", "string"}, {"pattern", "^[0-9.]+ ?%$"}}})}}},
                 {"reference", with_tag(leaf_map(match))},
                 {"arms", with_tag(leaf_map(match))}}},
               {"required", {"on"}},
               {"additionalProperties", false}};
  grid["match"] = {{"anyOf", Json::array({rule, rows(rule), {{"type", "null"}}})}};
  grid["seeds"] = {{"anyOf", Json::array({{{"type", "integer"}, {"minimum", 1}},
                                          {{"type", "array"},
                                           {"items", {{"type", "integer"}, {"minimum", 0}}},
                                           {"minItems", 1}}})}};
  grid["order"] = {{"type", "string"}, {"pattern", "^(file|shuffled\\([0-9]+\\))$"}};
  grid["max_cells"] = {{"type", "integer"}, {"minimum", 1}};
  grid["tags"] = strings();
  grid["overrides"] = strings();
  return grid;
}

Json leaf_json(const Leaf& leaf) {
  Json row = {{"path", leaf.path},
              {"type", leaf.type()},
              {"range", leaf.range()},
              {"unit", leaf.unit},
              {"default", plain(default_value(find_leaf(leaf.path)))},
              {"derived", leaf.derived},
              {"class", name_of(leaf.leaf_class)},
              {"read_when", leaf.read_when},
              {"doc", leaf.doc}};
  if (!leaf.words.empty()) row["words"] = split_words(leaf.words);
  return row;
}

}  // namespace

std::string leaves_json(std::span<const std::size_t> rows) {
  Json leaves = Json::array();
  for (const std::size_t row : rows) leaves.push_back(leaf_json(schema()[row]));
  return json_text(Json{{"schema", kSchemaVersion}, {"leaves", leaves}}, 1);
}

std::string schema_json() {
  Json leaves = Json::array();
  for (const Leaf& leaf : schema()) leaves.push_back(leaf_json(leaf));
  Json keys = Json::array();
  for (const GridKey& key : grid_keys()) {
    keys.push_back(
        {{"name", key.name}, {"type", key.type}, {"default", key.default_text}, {"doc", key.doc}});
  }
  return json_text(Json{{"schema", kSchemaVersion}, {"leaves", leaves}, {"grid", keys}}, 1);
}

std::string json_schema() {
  Json definitions;
  Json properties = Json::object();
  for (const Leaf& leaf : schema()) {
    definitions[std::string(leaf.path)] = described(leaf);
    nest(properties, leaf.path, reference(leaf));
  }
  for (const Leaf& leaf : schema()) {  // dotted at the top is accepted, too
    properties[std::string(leaf.path)] = reference(leaf);
  }
  definitions["factors"] = leaf_map(levels_schema);
  Json grid = grid_properties();
  for (const GridKey& key : grid_keys()) {
    grid[std::string(key.name)]["description"] = std::string(key.doc);
  }
  for (auto& [key, content] : grid.items()) properties[key] = content;
  return json_text(Json{{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "depthgrid sweep file"},
                        {"type", "object"},
                        {"properties", properties},
                        {"additionalProperties", false},
                        {"definitions", definitions}},
                   1);
}

}  // namespace depthgrid
