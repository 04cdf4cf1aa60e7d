#include "storage/plan_file.hpp"

#include <algorithm>
#include <map>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/config/identity.hpp"
#include "core/config/schema.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFormat = "depthgrid-plan";

Value as_real(const Value& value) {
  const auto* whole = value.get_if<std::int64_t>();
  return whole == nullptr ? value : Value(static_cast<double>(*whole));
}

/// JSON writes 1.0 as 1: a leaf that holds reals gets them back.
ValueMap typed(const Value& json) {
  const auto* map = json.get_if<ValueMap>();
  if (map == nullptr) throw Error("expected a JSON object");
  ValueMap out = *map;
  for (auto& [leaf, value] : out) {
    const std::size_t row = find_leaf(leaf);
    if (row >= schema().size()) continue;
    const ValueKind kind = schema()[row].kind;
    if (kind == ValueKind::Real) value = as_real(value);
    if (auto* list = std::get_if<ValueList>(&value.data); list && kind == ValueKind::RealList) {
      for (Value& one : *list) one = as_real(one);
    }
  }
  return out;
}

std::string json_of(const std::vector<std::string>& texts) {
  return canonical_json(Value(ValueList(texts.begin(), texts.end())));
}

std::vector<std::string> texts_of(const std::string& json) {
  std::vector<std::string> out;
  const Value parsed = value_from_json(json);
  if (const auto* list = parsed.get_if<ValueList>()) {
    for (const Value& item : *list) {
      if (const auto* text = item.get_if<std::string>()) out.push_back(*text);
    }
  }
  return out;
}

std::string sources_json(const std::vector<SweepSource>& sources) {
  ValueList out;
  for (const SweepSource& source : sources) {
    out.push_back(ValueMap{{"file", Value(source.file)}, {"text", Value(source.text)}});
  }
  return canonical_json(Value(std::move(out)));
}

/// Splits the leaves of all cells into those that all share and those that differ.
void divide_leaves(const Sweep& sweep, StoredPlan& plan) {
  for (const Leaf& leaf : schema()) {
    const Value& first = sweep.cells.front().config.at(leaf.path);
    const bool shared = std::ranges::all_of(
        sweep.cells, [&](const CellPlan& cell) { return cell.config.at(leaf.path) == first; });
    const std::string path(leaf.path);
    if (shared) {
      plan.constant.emplace_back(path, first);
    } else {
      for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
        plan.cells[i].varying.emplace_back(path, sweep.cells[i].config.at(leaf.path));
      }
    }
  }
  // Digests of the user's own files and the like: identity, though no leaf holds them.
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    for (auto& entry : beside_leaves(sweep.cells[i].config)) {
      plan.cells[i].varying.push_back(std::move(entry));
    }
  }
  sort_map(plan.constant);
  for (StoredCell& cell : plan.cells) sort_map(cell.varying);
}

VariableColumn extra_column(const std::string& name, const std::string& long_name,
                            const std::vector<std::string>& values) {
  VariableColumn out = text_column(name, {"cell"}, values);
  out.attributes = {
      {"units", std::string("1")}, {"long_name", long_name}, {"schedule", std::string("plan")}};
  return out;
}

ColumnTable plan_table(const StoredPlan& plan) {
  ColumnTable out;
  out.sizes["cell"] = static_cast<std::int64_t>(plan.cells.size());
  out.columns = identity_columns(plan, plan.cells);
  const std::string coordinates = coordinate_names(out.columns);
  std::vector<std::string> tags;
  std::vector<std::string> overrides;
  std::vector<std::string> leaves;
  for (const StoredCell& cell : plan.cells) {
    tags.push_back(cell.tag);
    overrides.push_back(canonical_json(Value(cell.overrides)));
    leaves.push_back(canonical_json(Value(cell.varying)));
  }
  out.columns.push_back(extra_column("cell_tag", "tag of an include row; empty = none", tags));
  out.columns.push_back(extra_column(
      "cell_overrides", "leaves that the sweep varies and this cell reads, JSON", overrides));
  out.columns.push_back(
      extra_column("cell_leaves", "resolved leaves that differ between two cells, JSON", leaves));
  out.attributes = sweep_attributes(plan, kPlanFormat);
  const Attributes more = {{"coordinates", coordinates},
                           {"constant_leaves", canonical_json(Value(plan.constant))},
                           {"description", plan.description},
                           {"method", plan.method},
                           {"order", plan.order},
                           {"baseline_arm", plan.baseline_arm},
                           {"sweep_file", plan.file},
                           {"sweep_yaml", plan.yaml},
                           {"sweep_sources", plan.sources},
                           {"tags", json_of(plan.tags)},
                           {"notes", json_of(plan.notes)},
                           {"match", matched_json(plan.matched)},
                           {"seeds", plan.seeds},
                           {"created", plan.created},
                           {"code_version", plan.code_version}};
  out.attributes.insert(out.attributes.end(), more.begin(), more.end());
  return out;
}

}  // namespace

const Value* leaf_of(const StoredPlan& plan, const StoredCell& cell, std::string_view leaf) {
  const Value* shared = find_key(plan.constant, leaf);
  return shared != nullptr ? shared : find_key(cell.varying, leaf);
}

std::string resolved_json(const StoredPlan& plan, const StoredCell& cell) {
  ValueMap all = plan.constant;
  all.insert(all.end(), cell.varying.begin(), cell.varying.end());
  sort_map(all);
  return canonical_json(Value(std::move(all)));
}

CellConfig resolved_config(const StoredPlan& plan, const StoredCell& cell) {
  return config_from_json(resolved_json(plan, cell));
}

StoredPlan stored_plan(const Sweep& sweep) {
  if (sweep.cells.empty()) throw Error("a sweep without cells cannot be planned");
  StoredPlan out;
  out.name = sweep.name;
  out.description = sweep.description;
  out.method = sweep.method;
  out.metric = sweep.metric;
  out.goal = sweep.goal;
  out.file = sweep.file;
  out.yaml = sweep.yaml;
  out.sources = sources_json(sweep.sources);
  out.id = sweep.id;
  out.order = sweep.order;
  out.baseline_arm = sweep.baseline_arm;
  out.schema_digest = hex(sha256(schema_json()), 16);
  out.code_version = code_version();
  out.tags = sweep.tags;
  out.notes = sweep.notes;
  out.matched = sweep.matched;
  out.seeds = sweep.seeds;
  for (const CellPlan& cell : sweep.cells) {
    StoredCell row;
    row.id = cell.id;
    row.alias = cell.alias;
    row.arm = cell.arm;
    row.factor = cell.factor;
    row.tag = cell.tag;
    row.structure = cell.structure;
    row.row = cell.row;
    row.replicate = cell.replicate;
    row.seed = cell.seed;
    row.data_seed = cell.config.integer("data.seed");
    row.baseline = cell.baseline;
    row.overrides = cell.overrides;
    row.changed = canonical_json(Value(cell.config.changed()));
    out.cells.push_back(std::move(row));
  }
  divide_leaves(sweep, out);
  return out;
}

std::string arm_configuration(const std::string& changed) {
  const Value parsed = value_from_json(changed);
  ValueMap out;
  for (const auto& [leaf, value] : *parsed.get_if<ValueMap>()) {
    const auto* text = value.get_if<std::string>();
    const bool start = leaf == "model.init.from" && text != nullptr && text->starts_with("cell:");
    if (leaf == "seed" || leaf == "model.seed" || leaf == "data.seed" || start) continue;
    out.emplace_back(leaf, value);
  }
  return canonical_json(Value(std::move(out)));
}

bool publish_plan_file(const fs::path& file, const StoredPlan& plan, const Fs& disk) {
  const ColumnTable table = plan_table(plan);
  TableWriter writer(file, table_bytes(table), disk);
  write_table(writer, table);
  return writer.publish_once(0);
}

StoredPlan read_plan_file(const fs::path& file, std::int64_t generation, const Fs& disk) {
  const TableReader reader(file, disk);
  if (reader.required_text("format") != kPlanFormat) {
    throw StorageError(file, "is not the plan of a sweep", ExitCode::BadData);
  }
  StoredPlan out;
  out.generation = generation;
  out.name = reader.required_text("sweep_name");
  out.description = reader.required_text("description");
  out.method = reader.required_text("method");
  out.metric = reader.required_text("metric");
  out.goal = reader.required_text("goal");
  out.file = reader.required_text("sweep_file");
  out.yaml = reader.required_text("sweep_yaml");
  out.sources = reader.text_attribute("sweep_sources").value_or("[]");
  out.id = reader.required_text("sweep_id");
  out.order = reader.required_text("order");
  out.baseline_arm = reader.required_text("baseline_arm");
  out.created = reader.required_text("created");
  out.schema_digest = reader.required_text("schema_digest");
  out.code_version = reader.required_text("code_version");
  out.tags = texts_of(reader.required_text("tags"));
  out.notes = texts_of(reader.required_text("notes"));
  out.matched = matched_from_json(reader.text_attribute("match").value_or("[]"));
  out.seeds = reader.integer_attribute("seeds").value_or(1);
  out.constant = typed(value_from_json(reader.required_text("constant_leaves")));
  std::map<std::string, VariableColumn> columns;
  for (const char* name : {"cell", "cell_alias", "cell_row", "cell_config", "structure_digest",
                           "arm", "factor", "is_baseline", "replicate", "param_seed",
                           "param_data_seed", "cell_tag", "cell_overrides", "cell_leaves"}) {
    columns.emplace(name, reader.read(name));
  }
  const auto text = [&columns](const char* name, std::size_t i) { return columns[name].text(i); };
  const auto whole = [&columns](const char* name, std::size_t i) {
    return columns[name].integer(i);
  };
  out.cells.resize(columns["cell"].items());
  for (std::size_t i = 0; i < out.cells.size(); ++i) {
    StoredCell& cell = out.cells[i];
    cell.id = text("cell", i);
    cell.alias = text("cell_alias", i);
    cell.arm = text("arm", i);
    cell.factor = text("factor", i);
    cell.tag = text("cell_tag", i);
    cell.structure = text("structure_digest", i);
    cell.row = whole("cell_row", i);
    cell.replicate = whole("replicate", i);
    cell.seed = whole("param_seed", i);
    cell.data_seed = whole("param_data_seed", i);
    cell.baseline = whole("is_baseline", i) != 0;
    cell.generation = generation;
    cell.changed = text("cell_config", i);
    cell.overrides = typed(value_from_json(text("cell_overrides", i)));
    cell.varying = typed(value_from_json(text("cell_leaves", i)));
  }
  return out;
}

}  // namespace depthgrid
