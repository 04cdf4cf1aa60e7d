#include "storage/plan_file.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/clock.hpp"
#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/config/identity.hpp"
#include "core/config/schema.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFormat = "depthgrid-plan";

/// JSON writes 1.0 as 1: a leaf that holds reals gets them back.
ValueMap typed(const Value& json) {
  const auto* map = json.get_if<ValueMap>();
  if (map == nullptr) throw Error("expected a JSON object");
  ValueMap out = *map;
  for (auto& [leaf, value] : out) {
    const std::size_t row = find_leaf(leaf);
    const auto* whole = value.get_if<std::int64_t>();
    if (whole != nullptr && row < schema().size() && schema()[row].kind == ValueKind::Real) {
      value = Value(static_cast<double>(*whole));
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
                           {"tags", json_of(plan.tags)},
                           {"notes", json_of(plan.notes)},
                           {"match", matched_json(plan.matched)},
                           {"seeds", plan.seeds},
                           {"created", plan.created},
                           {"code_version", plan.code_version}};
  out.attributes.insert(out.attributes.end(), more.begin(), more.end());
  return out;
}

/// Values that a leaf takes in a plan, for the message about two plans.
std::map<std::string, std::set<std::string>> values_of_leaves(const StoredPlan& plan) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& [leaf, value] : plan.constant) out[leaf].insert(plain_text(value));
  for (const StoredCell& cell : plan.cells) {
    for (const auto& [leaf, value] : cell.varying) out[leaf].insert(plain_text(value));
  }
  return out;
}

std::string joined(const std::set<std::string>& values) {
  constexpr std::size_t kMost = 6;
  std::string out;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (shown++ == kMost) return out + ", ...";
    out += (out.empty() ? "" : ", ") + value;
  }
  return out;
}

/// "train.steps is 1000 there and 200 here" of the first leaf in the order of the schema; empty if
/// no leaf takes other values. Leaves of class Execution belong to the run and may differ.
std::string first_difference(const StoredPlan& there, const StoredPlan& here) {
  const auto old_values = values_of_leaves(there);
  const auto new_values = values_of_leaves(here);
  for (const Leaf& leaf : schema()) {
    const auto a = old_values.find(std::string(leaf.path));
    const auto b = new_values.find(std::string(leaf.path));
    if (leaf.leaf_class == LeafClass::Execution || a == old_values.end() || b == new_values.end()) {
      continue;
    }
    if (a->second != b->second) {
      return std::string(leaf.path) + " is " + joined(a->second) + " there and " +
             joined(b->second) + " here";
    }
  }
  return {};
}

void refuse_another_plan(const fs::path& file, const StoredPlan& there, const StoredPlan& here) {
  std::set<CellId> old_ids;
  std::set<CellId> new_ids;
  for (const StoredCell& cell : there.cells) old_ids.insert(cell.id);
  for (const StoredCell& cell : here.cells) new_ids.insert(cell.id);
  const auto count_missing = [](const std::set<CellId>& from, const std::set<CellId>& in) {
    return std::ranges::count_if(from, [&in](const CellId& id) { return !in.contains(id); });
  };
  const auto added = count_missing(new_ids, old_ids);
  const auto removed = count_missing(old_ids, new_ids);
  std::string difference = first_difference(there, here);
  if (added == 0 && removed == 0 && difference.empty()) return;
  if (difference.empty()) difference = "the same values of leaves, combined in another way";
  throw UserError(ExitCode::CantCreate,
                  file.string() + ": this store holds another plan, '" + there.name + "' with " +
                      std::to_string(old_ids.size()) + " cells; '" + here.name + "' has " +
                      std::to_string(new_ids.size()) + " (" + std::to_string(added) + " added, " +
                      std::to_string(removed) + " removed); first difference: " + difference +
                      "; give another folder with --store, or the sweep as it was planned here (" +
                      (file.parent_path() / "sweep.yaml").string() + ")");
}

/// The sweep file of a plan that is published: of two sweeps at the same moment the one whose plan
/// is kept has its text there too.
void publish_text(const Store& store, const StoredPlan& there) {
  if (fs::exists(store.sweep_yaml())) return;
  publish_once(store.sweep_yaml(), std::string_view(there.yaml));
}

}  // namespace

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

bool has_plan(const Store& store) {
  return fs::exists(store.plan_file());
}

void publish_plan(Store& store, const Sweep& sweep) {
  StoredPlan plan = stored_plan(sweep);
  if (!has_plan(store)) {
    plan.created = iso_utc(unix_time());
    const ColumnTable table = plan_table(plan);
    TableWriter writer(store.plan_file(), table_bytes(table));
    write_table(writer, table);
    if (writer.publish_once(0)) return publish_text(store, plan);
  }
  const StoredPlan there = read_plan(store);
  publish_text(store, there);  // its owner may have died before, or be about to
  refuse_another_plan(store.plan_file(), there, plan);
}

StoredPlan read_plan(const Store& store) {
  const fs::path file = store.plan_file();
  if (!has_plan(store)) {
    throw StorageError(file, "there is no plan in this store: run a sweep into it first",
                       ExitCode::NoInput);
  }
  const TableReader reader(file);
  if (reader.required_text("format") != kPlanFormat) {
    throw StorageError(file, "is not the plan of a sweep", ExitCode::BadData);
  }
  StoredPlan out;
  out.name = reader.required_text("sweep_name");
  out.description = reader.required_text("description");
  out.method = reader.required_text("method");
  out.metric = reader.required_text("metric");
  out.goal = reader.required_text("goal");
  out.file = reader.required_text("sweep_file");
  out.yaml = reader.required_text("sweep_yaml");
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
    cell.changed = text("cell_config", i);
    cell.overrides = typed(value_from_json(text("cell_overrides", i)));
    cell.varying = typed(value_from_json(text("cell_leaves", i)));
  }
  return out;
}

}  // namespace depthgrid
