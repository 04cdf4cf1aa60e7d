#include "sweeps/report/cell_settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/resolve/schema_condition.hpp"
#include "core/config/schema.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// Of a leaf that nothing wrote: its value may follow from others (the model's seed from the
/// cell's).
std::string unwritten(const CellSetting& setting) {
  return setting.value == default_value(leaf_index(setting.leaf)) ? "default" : "derived";
}

/// Fills the origin of a setting from what is known of the cell.
void set_origin(CellSetting& setting, const CellSettings& settings, const StoredCell& cell,
                const ValueMap& changed) {
  for (const MatchedWidth& width : settings.plan.matched) {
    if (width.arm == cell.arm && width.leaf == setting.leaf) {
      setting.origin = "match";
      return;
    }
  }
  const auto arm = settings.leaf_sources.find(cell.arm);
  if (arm == settings.leaf_sources.end()) {
    setting.origin = find_key(changed, setting.leaf) != nullptr ? "set" : unwritten(setting);
    return;
  }
  const auto source = std::ranges::find(arm->second, setting.leaf, &LeafSource::leaf);
  if (source == arm->second.end()) {
    setting.origin = setting.leaf == "seed" ? "seeds" : unwritten(setting);
    return;
  }
  setting.origin = name_of(source->kind);
  setting.file = source->file;
  setting.line = source->line;
  setting.text = source->text;
}

std::string origin_text(const CellSetting& setting) {
  if (!setting.text.empty()) return "--set " + setting.text;
  if (setting.file.empty()) return setting.origin;
  return fmt::format("{}, {}:{}", setting.origin, setting.file, setting.line);
}

Json name_json(const StoredCell& cell) {
  return {{"id", cell.id}, {"alias", cell.alias}};
}

Json value_json(const Value& value) {
  return parse_ordered_json(canonical_json(value));
}

/// A leaf in which two cells differ; unread ones differ only if the other cell reads them.
struct LeafDifference {
  CellSetting a, b;
};

std::vector<LeafDifference> differences(const CellSettings& settings, std::size_t a,
                                        std::size_t b) {
  const std::vector<CellSetting> of_a = settings_of(settings, a);
  const std::vector<CellSetting> of_b = settings_of(settings, b);
  std::vector<LeafDifference> out;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const bool differ = of_a[i].value != of_b[i].value || of_a[i].read != of_b[i].read;
    if (differ && (of_a[i].read || of_b[i].read)) out.push_back({of_a[i], of_b[i]});
  }
  return out;
}

std::string read_text(const CellSetting& setting) {
  return setting.read ? plain_text(setting.value) : "(not read)";
}

}  // namespace

std::vector<CellSetting> settings_of(const CellSettings& settings, std::size_t row) {
  const StoredCell& cell = settings.plan.cells.at(row);
  const CellConfig config = resolved_config(settings.plan, cell);
  const Value changed_leaves = value_from_json(cell.changed);
  const auto* changed = changed_leaves.get_if<ValueMap>();
  std::vector<CellSetting> out;
  for (const Leaf& leaf : schema()) {
    CellSetting& setting = out.emplace_back();
    setting.leaf = leaf.path;
    setting.value = config.at(leaf.path);
    setting.read = SchemaCondition(leaf.read_when).holds(config.lookup());
    set_origin(setting, settings, cell, changed != nullptr ? *changed : ValueMap());
  }
  return out;
}

std::string settings_text(const CellSettings& settings, std::size_t row, bool all) {
  const StoredCell& cell = settings.plan.cells.at(row);
  std::string out = fmt::format("{}  {}  structure {}\n", cell.id, cell.alias, cell.structure);
  Table table{{{"leaf"}, {"value"}, {"from"}}, {}};
  std::size_t unread = 0;
  for (const CellSetting& setting : settings_of(settings, row)) {
    unread += setting.read ? 0 : 1;
    if (!setting.read && !all) continue;
    table.rows.push_back({setting.leaf, plain_text(setting.value),
                          origin_text(setting) + (setting.read ? "" : ", not read")});
  }
  out += text_of(table);
  if (unread > 0 && !all) {
    out += fmt::format("{} leaves that this cell does not read are left out: --all\n", unread);
  }
  if (settings.leaf_sources.empty()) {
    out +=
        "set: otherwise than the default; the lines are given for a sweep file: "
        "depthgrid show CELL FILE\n";
  }
  return out;
}

std::string settings_json(const CellSettings& settings, std::size_t row) {
  const StoredCell& cell = settings.plan.cells.at(row);
  Json leaves = Json::array();
  for (const CellSetting& setting : settings_of(settings, row)) {
    Json& leaf = leaves.emplace_back(Json{{"leaf", setting.leaf},
                                          {"value", value_json(setting.value)},
                                          {"read", setting.read},
                                          {"origin", setting.origin}});
    const bool place = !setting.file.empty();
    leaf["file"] = place ? Json(setting.file) : Json();
    leaf["line"] = place ? Json(setting.line) : Json();
    leaf["text"] = setting.text.empty() ? Json() : Json(setting.text);
  }
  return json_text(Json{{"schema", 1},
                        {"id", cell.id},
                        {"alias", cell.alias},
                        {"arm", cell.arm},
                        {"tag", cell.tag.empty() ? Json() : Json(cell.tag)},
                        {"structure", cell.structure},
                        {"leaves", leaves}},
                   2) +
         "\n";
}

std::string difference_text(const CellSettings& settings, std::size_t a, std::size_t b) {
  const StoredCell& first = settings.plan.cells.at(a);
  const StoredCell& second = settings.plan.cells.at(b);
  Table table{{{"leaf"}, {first.alias}, {second.alias}}, {}};
  for (const auto& [of_a, of_b] : differences(settings, a, b)) {
    table.rows.push_back({of_a.leaf, read_text(of_a), read_text(of_b)});
  }
  if (table.rows.empty()) {
    return fmt::format("{} and {} have the same configuration\n", first.alias, second.alias);
  }
  return text_of(table) + (first.structure == second.structure
                               ? "same structure: they can train in one job\n"
                               : "different structures: they train in jobs of their own\n");
}

std::string difference_json(const CellSettings& settings, std::size_t a, std::size_t b) {
  const StoredCell& first = settings.plan.cells.at(a);
  const StoredCell& second = settings.plan.cells.at(b);
  Json leaves = Json::array();
  for (const auto& [of_a, of_b] : differences(settings, a, b)) {
    leaves.push_back({{"leaf", of_a.leaf},
                      {"a", of_a.read ? value_json(of_a.value) : Json()},
                      {"b", of_b.read ? value_json(of_b.value) : Json()},
                      {"read_by", of_a.read ? (of_b.read ? "both" : "a") : "b"}});
  }
  return json_text(Json{{"schema", 1},
                        {"a", name_json(first)},
                        {"b", name_json(second)},
                        {"same_structure", first.structure == second.structure},
                        {"leaves", leaves}},
                   2) +
         "\n";
}

}  // namespace depthgrid
