#include "storage/pack/pack_sources.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/cells/former_bits.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/former_values.hpp"
#include "storage/pack/cell_probe_records.hpp"
#include "storage/pack/state_index.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Columns of the plan are taken from the plan, not from cell files.
bool is_identity(const std::string& name) {
  static const std::vector<std::string> kNames = {
      "cell",   "cell_alias",  "cell_row",  "cell_config",    "structure_digest", "arm",
      "factor", "is_baseline", "replicate", "in_newest_plan", "plan_generation"};
  return name.starts_with("param_") || std::ranges::find(kNames, name) != kNames.end();
}

/// Reads the variables that `wanted` accepts, with the lengths of all their axes.
template <class Wanted>
ColumnTable read_columns(const TableReader& reader, Wanted wanted) {
  ColumnTable out;
  for (const std::string& name : reader.names()) {
    if (is_identity(name)) continue;
    const std::vector<std::string> dims = axes_of_column(name);
    const bool axis = dims.size() == 1 && dims[0] == name;
    if (!axis && find_variable(name) == nullptr) continue;  // of a later minor version
    if (!axis && !wanted(dims)) continue;
    const VariableColumn& column = out.columns.emplace_back(reader.read(name));
    if (axis) out.sizes[name] = static_cast<std::int64_t>(column.items());
  }
  out.sizes["cell"] = 1;
  return out;
}

/// The same of a cell's file. @throws StorageError (BadData) also if a variable, wanted or not, is
/// there without the coordinate of one of its axes.
template <class Wanted>
ColumnTable read_cell_columns(const TableReader& reader, const fs::path& file, Wanted wanted) {
  ColumnTable out = read_columns(reader, wanted);
  for (const std::string& name : reader.names()) {
    if (is_identity(name) || find_variable(name) == nullptr) continue;
    for (const std::string& axis : axes_of_column(name)) {
      if (out.sizes.contains(axis)) continue;
      throw StorageError(file, "'" + name + "' lacks its axis " + axis, ExitCode::BadData);
    }
  }
  return out;
}

/// The previous packed file, unless it is damaged or its version or cells differ.
std::optional<TableReader> open_previous(const Store& store, const StoredPlan& plan,
                                         PackSources& sources) {
  const fs::path file = store.packed_file();
  if (!something_at(file, store.fs())) return std::nullopt;
  try {
    TableReader out(file, store.fs());
    if (!readable_version(out.text_attribute("format_version"))) return std::nullopt;
    const VariableColumn cells = out.read("cell");
    bool same = cells.items() == plan.cells.size();
    for (std::size_t i = 0; same && i < plan.cells.size(); ++i) {
      same = cells.text(i) == plan.cells[i].id;
    }
    if (same) return out;
  } catch (const StorageError& error) {
    if (error.code() != ExitCode::BadData) throw;
    sources.problems.push_back(std::string(error.what()) + "; it is built anew");
    sources.damaged_previous = true;
  }
  return std::nullopt;
}

/// Names and sizes of an unfinished cell's files: they change with every row of a journal.
std::string fingerprint(const fs::path& folder, const Fs& disk) {
  std::map<std::string, std::uint64_t> files;
  for (const FolderEntry& entry : disk.list(folder).value) {
    if (entry.name.starts_with("journal-") || entry.name.starts_with("failed-")) {
      files[entry.name] = disk.facts(folder / entry.name, Links::Follow).value.size;
    }
  }
  if (const auto seal = peek_seal(folder / "metrics.h5", disk)) files[hex(seal->digest)] = 0;
  std::string out;
  for (const auto& [name, size] : files) out += name + ":" + std::to_string(size) + " ";
  return out;
}

/// Numbers known only to the worker (parameters, costs so far) are in the newest snapshot.
void add_facts_of_snapshot(const Fs& disk, const fs::path& folder, const StoredCell& cell,
                           ColumnTable& table) {
  const fs::path file = folder / "metrics.h5";
  if (!something_at(file, disk)) return;
  const TableReader reader = open_cell_file(file, cell.id, cell.changed, disk);
  const auto fact = [](const auto& dims) { return dims[0] == "cell" && !is_series(dims); };
  table = with_facts(table, read_cell_columns(reader, file, fact));
}

ColumnTable records_of(const StoredPlan& plan, std::size_t row, const CellHistory& history,
                       CellStatus status) {
  return cell_records(
      {.plan = plan.cells[row], .sweep = plan, .history = history, .status = status, .facts = {}});
}

/// The cell's numbers from its journals; none of them where they do not fit together (those of a
/// later version may have variables that this one does not know): one cell must not cost the
/// others.
ColumnTable numbers_of(const StoredPlan& plan, std::size_t row, const CellHistory& history,
                       CellStatus status, const fs::path& folder, PackSources& out) {
  try {
    return records_of(plan, row, history, status);
  } catch (const Error& error) {
    out.problems.push_back(folder.string() + ": its journals cannot be packed (" + error.what() +
                           "); what they hold is left out");
    return records_of(plan, row, CellHistory(), status);
  }
}

/// By which leaves there were measurements. @param settings  of probe_record_settings(), separated
/// by commas.
void add_settings(const std::string& settings, CellSource& source) {
  if (settings.empty()) return;
  const std::string all = "[" + settings + "]";
  source.table.columns.push_back(text_column("look_settings", {"cell"}, {&all, 1}));
}

/// Puts the measurements of stored weights over the cell's numbers, and says by which leaves there
/// were measurements. Damaged files are left out, and said.
/// @param settings  probe_record_settings() of its result.
void add_probe_records(const Store& store, const StoredCell& cell, const ValueMap& planned,
                       std::string settings, CellSource& source, PackSources& out) {
  std::vector<fs::path> read;
  std::vector<ColumnTable> records;
  for (const fs::path& file : probe_record_files(store.cell_path(cell.id), store.fs())) {
    try {
      const TableReader reader = open_cell_file(file, cell.id, cell.changed, store.fs());
      const auto is_probed = [](const auto& dims) {
        return dims.size() > 1 && dims[1] == "probe_step";
      };
      records.push_back(read_cell_columns(reader, file, is_probed));
      settings += (settings.empty() ? "" : ", ") + probe_record_settings(file, reader, planned);
      read.push_back(file);
    } catch (const StorageError& error) {
      out.problems.push_back(error.what() + std::string("; it is left out"));
    }
  }
  source.table = with_probe_records(source.table, records);
  add_settings(settings, source);
  source.probe_records = probe_records_digest(read, store.fs());
}

void build_unfinished(const Store& store, const StoredPlan& plan, std::size_t row,
                      CellStatus status, PackSources& out) {
  const StoredCell& cell = plan.cells[row];
  const fs::path folder = store.cell_path(cell.id);
  CellHistory history;
  try {
    history = read_history(folder, store.fs());
    for (const std::string& damage : history.damages) out.problems.push_back(damage);
  } catch (const StorageError& error) {
    out.problems.emplace_back(error.what());
  }
  ColumnTable& table = out.cells[row].table;
  table = numbers_of(plan, row, history, status, folder, out);
  try {
    add_facts_of_snapshot(store.fs(), folder, cell, table);
  } catch (const StorageError& error) {
    out.problems.emplace_back(error.what());
  }
  withhold_former_bits(table, plan, cell);
  add_probe_records(store, cell, probe_leaves(plan, cell), "", out.cells[row], out);
}

/// What is packed in the place of a damaged result.
std::string instead(const std::string& kept) {
  return kept.empty() ? "; its journals are used" : "; its row is kept as it was packed before";
}

/// Everything of a result; its series only if something changes in them: measurements are put over
/// them, or they have figures that are withheld.
void read_result(const Store& store, const StoredPlan& plan, const StoredCell& cell,
                 CellSource& source, PackSources& out) {
  const fs::path file = store.cell_path(cell.id) / "result.h5";
  const TableReader reader = open_cell_file(file, cell.id, cell.changed, store.fs());
  const bool former = of_former_release(reader) && may_have_former_bits(plan, cell);
  const ValueMap planned = probe_leaves(plan, cell);
  const std::string settings = probe_record_settings(file, reader, planned);
  if (former || !probe_record_files(store.cell_path(cell.id), store.fs()).empty()) {
    source.table = read_cell_columns(reader, file, [](const auto&) { return true; });
    if (former) withhold_former_bits(source.table, plan, cell);
    add_probe_records(store, cell, planned, settings, source, out);
    source.kind = CellSource::Kind::Whole;
  } else {
    source.table =
        read_cell_columns(reader, file, [](const auto& dims) { return !is_series(dims); });
    std::ranges::copy_if(reader.names(), std::back_inserter(source.series),
                         [](const std::string& name) { return is_series(axes_of_column(name)); });
    add_settings(settings, source);
  }
  if (out.library_versions.empty()) {
    out.library_versions = reader.text_attribute("library_versions").value_or("");
  }
}

/// All cells of the plan as found at one moment.
struct CellsView {
  std::vector<CellOutcome> cells;
  std::vector<std::string> probe_records;  // probe_records_digest() of each
  std::vector<std::vector<StateFile>> states;
  std::string digest, finalised;  // as PackSources says
};

CellsView view_of(const Store& store, const StoredPlan& plan) {
  CellsView out;
  // Another plan gives cells other names or leaves, though nothing was trained.
  std::string all = plan.generation > 1 ? "plan " + std::to_string(plan.generation) + "\n" : "";
  std::string finalised = all;
  for (const StoredCell& cell : plan.cells) {
    const CellOutcome& found = out.cells.emplace_back(cell_outcome(store, cell.id));
    const CellStatus status = found.state.status;
    const std::string& probe_records = out.probe_records.emplace_back(
        probe_records_digest(probe_record_files(store.cell_path(cell.id), store.fs()), store.fs()));
    out.states.push_back(state_files(store.cell_path(cell.id), store.fs()));
    const std::string line = cell.id +
                             (found.seal ? hex(found.seal->digest)
                                         : std::string(name_of(status)) +
                                               fingerprint(store.cell_path(cell.id), store.fs())) +
                             probe_records + states_digest(out.states.back()) + "\n";
    all += line;
    finalised += !found.seal && status == CellStatus::Running ? cell.id + "\n" : line;
  }
  out.digest = hex(sha256(all));
  out.finalised = hex(sha256(finalised));
  return out;
}

}  // namespace

bool is_series(const std::vector<std::string>& dims) {
  return dims.size() > 1 && dims[0] == "cell" && dimension(dims[1]).kind == AxisKind::Joined;
}

PackSources gather_sources(const Store& store, const StoredPlan& plan) {
  PackSources out;
  out.previous = open_previous(store, plan, out);
  std::optional<VariableColumn> packed, packed_probe_records;
  if (out.previous && out.previous->has("result_sha256")) {
    packed = out.previous->read("result_sha256");
  }
  if (out.previous && out.previous->has("looks_sha256")) {
    packed_probe_records = out.previous->read("looks_sha256");
  }
  CellsView view = view_of(store, plan);
  out.digest = view.digest;
  out.finalised = view.finalised;
  out.states = std::move(view.states);
  out.probe_leaves = probe_leaves_digest(plan);
  out.cells.resize(plan.cells.size());
  const FormerValues former(store, plan);
  const auto kept = [&](std::size_t i) {
    const bool usable = packed && !former.doubtful(plan.cells[i].id);
    return usable ? packed->text(i) : std::string();
  };
  // Rows of release 0.1 may have figures that are withheld now; others say in what the leaves of
  // their measurements differ from those of the plan then.
  const bool read_again =
      out.previous && (of_former_release(*out.previous) ||
                       out.previous->text_attribute("probe_leaves") != out.probe_leaves);
  std::set<std::size_t> foreign;  // cells whose records are not theirs
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const CellOutcome& found = view.cells[i];
    CellSource& source = out.cells[i];
    if (const std::string why = former.of(plan.cells[i].id); !why.empty()) {
      out.problems.push_back(why);
      foreign.insert(i);
      continue;
    }
    if (!found.damage.empty()) {
      out.problems.push_back(found.damage + instead(kept(i)));
    } else if (!found.seal && !kept(i).empty() && found.state.status != CellStatus::Running) {
      const fs::path result = store.cell_path(plan.cells[i].id) / "result.h5";
      out.problems.push_back(result.string() + ": is missing" + instead(kept(i)));
    }
    if (!found.seal && kept(i).empty()) continue;
    source.seal = found.seal ? hex(found.seal->digest) : kept(i);
    const std::string kept_probe_records =
        packed_probe_records ? packed_probe_records->text(i) : std::string();
    // Without its result, a row stays as it was packed.
    const bool same = source.seal == kept(i) &&
                      (!found.seal || (view.probe_records[i] == kept_probe_records && !read_again));
    source.kind = same ? CellSource::Kind::Packed : CellSource::Kind::File;
    if (same) source.probe_records = kept_probe_records;
  }
  if (out.previous && !read_again && out.previous->text_attribute("source_digest") == out.digest) {
    return out;
  }
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    CellSource& source = out.cells[i];
    if (source.kind == CellSource::Kind::File) {
      try {
        read_result(store, plan, plan.cells[i], source, out);
        // Of an owner killed at the very end.
        remove_dead_scratch(store.cell_path(plan.cells[i].id), store.fs());
        continue;
      } catch (const StorageError& error) {
        out.problems.push_back(error.what() + instead(kept(i)));
        source = CellSource();
        source.seal = kept(i);
        if (!source.seal.empty()) {
          source.kind = CellSource::Kind::Packed;
          if (packed_probe_records) source.probe_records = packed_probe_records->text(i);
        }
      }
    }
    if (foreign.contains(i)) {
      source.table = records_of(plan, i, CellHistory(), CellStatus::Pending);
    } else if (source.kind == CellSource::Kind::Whole) {
      const CellOutcome found =
          view.cells[i].seal ? unfinished_outcome(store, plan.cells[i].id) : view.cells[i];
      build_unfinished(store, plan, i, found.state.status, out);
    }
  }
  return out;
}

std::string finalised_digest(const Store& store, const StoredPlan& plan) {
  return view_of(store, plan).finalised;
}

ColumnTable read_series(const Store& store, const StoredCell& cell) {
  const TableReader reader(store.cell_path(cell.id) / "result.h5", SealCheck::BlockOnly,
                           store.fs());
  return read_columns(reader, [](const std::vector<std::string>& dims) { return is_series(dims); });
}

}  // namespace depthgrid
