#include "storage/cells/probe_record.hpp"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/digest.hpp"
#include "core/base/json_text.hpp"
#include "core/base/version.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/mask_churn.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

fs::path probe_record_file(const fs::path& cell_dir, std::size_t number) {
  return cell_dir / ("probe-" + std::to_string(number) + ".h5");
}

/// The series and their axes, and which cell they are of.
ColumnTable probe_record_table(const ProbeRecordInput& in) {
  CellHistory history;
  history.kinds.push_back({in.layout.kinds().front(), in.rows});
  history.axes = in.layout.axes();
  ColumnTable all = cell_records(
      {.plan = in.plan, .sweep = in.sweep, .history = history, .status = {}, .facts = {}});
  ColumnTable out;
  out.columns = identity_columns(in.sweep, {&in.plan, 1});
  std::vector<std::string> used = {"cell"};
  for (const VariableColumn& column : all.columns) {
    if (column.dims.size() < 2 || column.dims[1] != "probe_step") continue;
    used.insert(used.end(), column.dims.begin(), column.dims.end());
  }
  const auto is_used = [&](const std::string& axis) {
    return std::ranges::find(used, axis) != used.end();
  };
  for (VariableColumn& column : all.columns) {
    const bool axis = column.dims.size() == 1 && column.dims[0] == column.name;
    const bool measured = column.dims.size() > 1 && column.dims[1] == "probe_step" &&
                          !is_mask_churn(column.name);  // between measurements of a run
    if (measured || (axis && is_used(column.name))) out.columns.push_back(std::move(column));
  }
  for (const auto& [axis, size] : all.sizes) {
    if (is_used(axis)) out.sizes[axis] = size;
  }
  const std::string now = iso_utc(unix_time());
  out.attributes = sweep_attributes(in.sweep, "depthgrid-probe");
  const Attributes more = {{"config", resolved_json(in.sweep, in.plan)},
                           {"probes", in.probes},
                           {"probe_settings", in.settings},
                           {"probe_set_sha256", in.set_sha256},
                           {"code_version", code_version()},
                           {"created", now},
                           {"history", now + " " + in.command}};
  out.attributes.insert(out.attributes.end(), more.begin(), more.end());
  return out;
}

std::set<std::string> probes_of(const TableReader& file) {
  std::set<std::string> out;
  for (const std::string& name : file.names()) {
    const Variable* variable = find_variable(name);
    if (variable != nullptr && variable->dims.starts_with("cell, probe_step")) {
      out.emplace(variable->schedule);
    }
  }
  return out;
}

ValueMap of_probes(const ValueMap& leaves) {
  ValueMap out;
  std::ranges::copy_if(leaves, std::back_inserter(out),
                       [](const auto& entry) { return entry.first.starts_with("probes."); });
  return out;
}

}  // namespace

fs::path publish_probe_record(const fs::path& cell_dir, const ProbeRecordInput& input,
                              const Fs& disk) {
  const ColumnTable table = probe_record_table(input);
  for (std::size_t number = probe_record_files(cell_dir, disk).size() + 1;; ++number) {
    const fs::path file = probe_record_file(cell_dir, number);
    TableWriter writer(file, table_bytes(table), disk);
    write_table(writer, table);
    if (writer.publish_once(0)) return file;  // else another command has taken the number
  }
}

std::vector<fs::path> probe_record_files(const fs::path& cell_dir, const Fs& disk) {
  std::vector<fs::path> out;
  for (std::size_t number = 1;; ++number) {
    fs::path file = probe_record_file(cell_dir, number);
    if (!something_at(file, disk)) return out;
    out.push_back(std::move(file));
  }
}

std::set<std::string> recorded_probes(const fs::path& cell_dir, const Fs& disk) {
  std::vector<fs::path> files = probe_record_files(cell_dir, disk);
  files.push_back(cell_dir / "result.h5");
  std::set<std::string> out;
  for (const fs::path& file : files) {
    try {
      out.merge(probes_of(TableReader(file, SealCheck::BlockOnly, disk)));
    } catch (const StorageError&) {  // whoever needs its numbers says so
    }
  }
  return out;
}

ValueMap probe_leaves(const StoredPlan& plan, const StoredCell& cell) {
  ValueMap out = of_probes(plan.constant);
  std::ranges::move(of_probes(cell.varying), std::back_inserter(out));
  sort_map(out);
  return out;
}

std::string probe_leaves_digest(const StoredPlan& plan) {
  std::string all = canonical_json(Value(of_probes(plan.constant))) + "\n";
  for (const StoredCell& cell : plan.cells) {
    const ValueMap own = of_probes(cell.varying);
    if (!own.empty()) all += cell.id + canonical_json(Value(own)) + "\n";
  }
  return hex(sha256(all));
}

std::string probe_record_settings(const fs::path& file, const TableReader& contents,
                                  const ValueMap& planned) {
  using Json = nlohmann::ordered_json;
  const bool own = file.filename() == "result.h5";
  const std::string used =
      contents.text_attribute(own ? "config" : "probe_settings").value_or("{}");
  const std::string asked = canonical_json(Value(planned));
  // Its leaves are in the same form and order: those of probes stand side by side.
  const bool same = used.find(asked.substr(1, asked.size() - 2)) != used.npos;
  if (own && (same || !contents.has("probe_step"))) return {};
  const Json given = parse_ordered_json(used), wanted = parse_ordered_json(asked);
  Json set = Json::object();
  for (const auto& [leaf, value] : given.items()) {
    const bool other =
        leaf.starts_with("probes.") && wanted.contains(leaf) && wanted[leaf] != value;
    if (other || (!own && leaf == kSignalOfProbes)) set[leaf] = value;
  }
  if (own && set.empty()) return {};
  std::string probes;
  for (const std::string& name : own ? probes_of(contents) : std::set<std::string>()) {
    probes += (probes.empty() ? "" : " ") + name;
  }
  Json steps = Json::array();
  const VariableColumn at = contents.read("probe_step");
  for (std::size_t i = 0; i < at.items(); ++i) steps.push_back(at.integer(i));
  return json_text(Json{{"file", file.filename().string()},
                        {"probes", own ? probes : contents.text_attribute("probes").value_or("")},
                        {"steps", std::move(steps)},
                        {"set", std::move(set)}});
}

std::string other_probe_leaf(const fs::path& cell_dir, const ValueMap& planned, const Fs& disk) {
  std::vector<fs::path> files = {cell_dir / "result.h5"};
  std::ranges::copy(probe_record_files(cell_dir, disk), std::back_inserter(files));
  std::string out;
  for (const fs::path& file : files) {
    const TableReader reader(file, SealCheck::BlockOnly, disk);
    const std::string settings = probe_record_settings(file, reader, planned);
    if (settings.empty()) return {};
    out.clear();
    const nlohmann::ordered_json set_by_probe = parse_ordered_json(settings);
    for (const auto& [leaf, value] : set_by_probe.at("set").items()) {
      const Value* wanted = find_key(planned, leaf);
      if (wanted == nullptr || !out.empty()) continue;
      // What is off has no measurements, and what was off is said elsewhere:
      // missing_measurements().
      const bool off = value == "off" || plain_text(*wanted) == "off";
      if (leaf.ends_with(".schedule") && off) continue;
      const std::string was = value.is_string() ? value.get<std::string>() : value.dump();
      out = leaf + " was " + was + ", not " + plain_text(*wanted);
    }
    if (out.empty()) return {};
  }
  return out;
}

std::string probe_records_digest(const std::vector<fs::path>& files, const Fs& disk) {
  if (files.empty()) return {};
  std::string all;
  for (const fs::path& file : files) {
    const auto seal = peek_seal(file, disk);
    all += (seal ? hex(seal->digest) : "damaged") + "\n";
  }
  return hex(sha256(all));
}

}  // namespace depthgrid
