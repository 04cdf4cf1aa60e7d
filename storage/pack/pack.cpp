#include "storage/pack/pack.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/version.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/pack/pack_axes.hpp"
#include "storage/pack/pack_series.hpp"
#include "storage/pack/pack_sources.hpp"
#include "storage/pack/state_index.hpp"
#include "storage/plan_sequence.hpp"

namespace depthgrid {
namespace {

/// One record: a row of a table's ragged columns.
struct Record {
  const ColumnTable* table = nullptr;
  std::size_t row = 0;
  std::size_t cell = 0;  // row of the plan
  double order = 0;      // generation or time
};

/// Ragged columns of the previous packed file.
ColumnTable previous_records(const TableReader& previous) {
  ColumnTable out;
  for (const std::string& name : previous.names()) {
    const std::vector<std::string> dims = axes_of_column(name);
    if (dims.size() != 1) continue;
    const AxisKind kind = dimension(dims[0]).kind;
    if (kind != AxisKind::Ragged && kind != AxisKind::Labelled) continue;
    out.columns.push_back(previous.read(name));
    out.sizes[dims[0]] = static_cast<std::int64_t>(out.columns.back().items());
  }
  return out;
}

/// Concatenates the rows of `records`, column by column.
void gather(ColumnTable& out, const std::string& axis, const std::vector<Record>& records) {
  if (records.empty()) return;
  out.sizes[axis] = static_cast<std::int64_t>(records.size());
  for (const Variable& v : variables()) {
    if (v.dims != axis) continue;
    std::size_t item = bytes_of(v.type);
    bool present = false;
    for (const Record& record : records) {
      const VariableColumn* column = record.table->find(v.name);
      if (column == nullptr) continue;
      present = true;
      item = std::max(item, column->item_bytes);
    }
    if (!present) continue;
    VariableColumn& column = out.columns.emplace_back(absent_column(v, item, records.size()));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const VariableColumn* from = records[i].table->find(v.name);
      if (from == nullptr) continue;
      std::copy_n(
          from->bytes.begin() + static_cast<std::ptrdiff_t>(records[i].row * from->item_bytes),
          from->item_bytes, column.bytes.begin() + static_cast<std::ptrdiff_t>(i * item));
    }
  }
}

/// @param cell_name, order_name  columns with a record's cell and its sort key.
std::vector<Record> collect(const PackSources& sources, const ColumnTable& previous,
                            const std::map<std::string, std::size_t>& rows,
                            std::string_view cell_name, std::string_view order_name) {
  std::vector<Record> out;
  const auto add = [&](const ColumnTable& table, bool packed_only) {
    const VariableColumn* cells = table.find(cell_name);
    const VariableColumn* orders = table.find(order_name);
    if (cells == nullptr || orders == nullptr) return;
    for (std::size_t i = 0; i < cells->items(); ++i) {
      const auto row = rows.find(cells->text(i));
      if (row == rows.end()) continue;
      const bool packed = sources.cells[row->second].kind == CellSource::Kind::Packed;
      if (packed_only && !packed) continue;
      out.push_back({&table, i, row->second, orders->number(i)});
    }
  };
  add(previous, true);
  for (const CellSource& source : sources.cells) add(source.table, false);
  return out;
}

std::vector<Record> jobs_of(const PackSources& sources, const ColumnTable& previous) {
  std::map<std::string, Record> by_id;  // sorted: independent of packing order
  const auto add = [&by_id](const ColumnTable& table) {
    const VariableColumn* ids = table.find("job");
    if (ids == nullptr) return;
    for (std::size_t i = 0; i < ids->items(); ++i) by_id.try_emplace(ids->text(i), &table, i);
  };
  add(previous);
  for (const CellSource& source : sources.cells) add(source.table);
  std::vector<Record> out;
  for (const auto& [id, record] : by_id) out.push_back(record);
  return out;
}

/// The records that belong to no single row of the packed file, concatenated over all sources:
/// attempts (by cell, then generation), events (by time) and fused jobs (by id); and the index of
/// the files of raw states.
ColumnTable packed_records(const Store& store, const PackSources& sources, const StoredPlan& plan) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) rows[plan.cells[i].id] = i;
  ColumnTable previous;
  if (sources.previous) previous = previous_records(*sources.previous);
  ColumnTable out;
  const std::vector<Record> jobs = jobs_of(sources, previous);
  if (!jobs.empty()) {
    std::vector<std::string> ids;
    for (const Record& job : jobs) ids.push_back(job.table->find("job")->text(job.row));
    out.columns.push_back(text_column("job", {"job"}, ids));
    describe(out.columns.back());
    gather(out, "job", jobs);
  }
  std::vector<Record> attempts =
      collect(sources, previous, rows, "attempt_cell", "attempt_generation");
  std::ranges::stable_sort(attempts, [](const Record& a, const Record& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.order < b.order;
  });
  gather(out, "attempt", attempts);
  std::vector<Record> events = collect(sources, previous, rows, "event_cell", "event_time");
  std::ranges::stable_sort(events, [](const Record& a, const Record& b) {
    return a.order != b.order ? a.order < b.order : a.cell < b.cell;
  });
  gather(out, "event", events);
  ColumnTable states = state_index(store, plan, sources.states);
  std::ranges::move(states.columns, std::back_inserter(out.columns));
  out.sizes.insert(states.sizes.begin(), states.sizes.end());
  return out;
}

std::vector<VariableColumn> packed_identity(const StoredPlan& plan) {
  std::vector<VariableColumn> out = identity_columns(plan, plan.cells);
  std::ranges::move(generation_columns(plan), std::back_inserter(out));
  return out;
}

/// How often one pack() writes the file again because cells progressed meanwhile.
constexpr int kTimesAgain = 3;

/// Writes one packed file from its sources.
class Packer {
 public:
  Packer(const Store& store, const StoredPlan& plan, const PackSources& sources)
      : plan_(plan),
        sources_(sources),
        identity_(packed_identity(plan)),
        records_(packed_records(store, sources, plan)),
        input_{.store = store,
               .plan = plan,
               .sources = sources,
               .previous = previous_,
               .axes = axes_,
               .sizes = sizes_} {
    collect_names();
    collect_axes();
  }

  void write() {
    SeriesPacker series(input_);
    for (const Variable& v : variables()) {
      if (present(v) && is_series(axes_of(v))) series.add(v.name);
    }
    TableWriter writer(input_.store.packed_file(), series.bytes(), input_.store.fs());
    writer.attributes(root_attributes());
    write_identity(writer);
    for (const Variable& v : variables()) {
      if (v.name == "result_sha256") {
        writer.column(digests(v.name, &CellSource::seal));
      } else if (v.name == "looks_sha256") {
        const auto probed = [](const CellSource& source) { return !source.probe_records.empty(); };
        if (std::ranges::any_of(sources_.cells, probed)) {
          writer.column(digests(v.name, &CellSource::probe_records));
        }
      } else if (const VariableColumn* record = records_.find(v.name)) {
        writer.column(*record);
      } else if (present(v) && is_series(axes_of(v))) {
        series.declare(writer, v.name);
      } else if (present(v)) {
        writer.column(cell_level(v));
      }
    }
    series.write(writer);
    writer.replace(0);
  }

 private:
  /// Identity comes from the plan; records are gathered separately.
  bool present(const Variable& v) const {
    return names_.contains(std::string(v.name)) && v.dims.starts_with("cell");
  }

  void collect_names() {
    for (const CellSource& source : sources_.cells) {
      for (const VariableColumn& column : source.table.columns) names_.insert(column.name);
      names_.insert(source.series.begin(), source.series.end());
    }
    if (any_packed(sources_)) {
      names_.insert(sources_.previous->names().begin(), sources_.previous->names().end());
    }
    for (const VariableColumn& column : identity_) names_.erase(column.name);
  }

  void collect_axes() {
    for (const CellSource& source : sources_.cells) axes_.add(source.table);
    if (any_packed(sources_)) {
      for (const std::string& name : sources_.previous->names()) {
        if (axes_of_column(name) != std::vector<std::string>{name}) continue;
        previous_.columns.push_back(sources_.previous->read(name));
        previous_.sizes[name] = static_cast<std::int64_t>(previous_.columns.back().items());
      }
      axes_.add(previous_);
    }
    axes_.finish();
    sizes_ = axes_.sizes();
    sizes_["cell"] = static_cast<std::int64_t>(plan_.cells.size());
    for (const auto& [axis, size] : records_.sizes) sizes_[axis] = size;
    for (const Variable& v : variables()) {
      if (!present(v)) continue;
      for (const std::string& axis : axes_of(v)) {
        const std::size_t labels = labels_of(dimension(axis)).size();
        if (labels > 0) sizes_[axis] = static_cast<std::int64_t>(labels);
      }
    }
  }

  Attributes root_attributes() const {
    const auto results = std::ranges::count_if(
        sources_.cells, [](const CellSource& source) { return !source.seal.empty(); });
    const std::string code = code_version();
    const std::string now = iso_utc(unix_time());
    Attributes out = sweep_attributes(plan_, "depthgrid-sweep");
    const Attributes more = {{"sweep_yaml", plan_.yaml},
                             {"constant_leaves", canonical_json(Value(plan_.constant))},
                             {"coordinates", coordinate_names(identity_)},
                             {"code_version", code},
                             {"code_dirty", std::int64_t{code.find("-dirty") != std::string::npos}},
                             {"library_versions", library_versions()},
                             {"created", plan_.created},
                             {"packed", now},
                             {"history", now + " depthgrid pack (" + code + ")"},
                             {"n_cells_planned", static_cast<std::int64_t>(plan_.cells.size())},
                             {"n_cells_packed", static_cast<std::int64_t>(results)},
                             {"source_digest", sources_.digest},
                             {"probe_leaves", sources_.probe_leaves}};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  std::string library_versions() const {
    std::string out = sources_.library_versions;
    if (out.empty() && sources_.previous) {
      out = sources_.previous->text_attribute("library_versions").value_or("");
    }
    return out.empty() ? "{\"hdf5\":\"" + hdf5_version() + "\"}" : out;
  }

  /// All axes, and the columns that the plan knows.
  void write_identity(TableWriter& writer) const {
    const std::vector<VariableColumn> unions = axes_.coordinates();
    for (const Dimension& d : dimensions()) {
      const auto size = sizes_.find(d.name);
      if (size == sizes_.end()) continue;
      const auto own = std::ranges::find(unions, d.name, &VariableColumn::name);
      const VariableColumn* record = records_.find(d.name);
      if (d.kind == AxisKind::Cell) {
        writer.axis(identity_.front());
      } else if (own != unions.end()) {
        writer.axis(*own);
      } else {
        writer.axis(record != nullptr ? *record : coordinate(d, size->second));
      }
    }
    for (std::size_t i = 1; i < identity_.size(); ++i) writer.column(identity_[i]);
  }

  /// Digests of the files behind the rows.
  VariableColumn digests(std::string_view name, std::string CellSource::* member) const {
    std::vector<std::string> values;
    for (const CellSource& source : sources_.cells) values.push_back(source.*member);
    VariableColumn out = text_column(std::string(name), {"cell"}, values);
    describe(out);
    return out;
  }

  /// A variable that is not a series, of all cells.
  VariableColumn cell_level(const Variable& v) const {
    const std::vector<std::string> dims = axes_of(v);
    const std::string name(v.name);
    std::optional<VariableColumn> packed;
    if (any_packed(sources_) && sources_.previous->has(name))
      packed = sources_.previous->read(name);
    std::size_t item = packed ? packed->item_bytes : bytes_of(v.type);
    for (const CellSource& source : sources_.cells) {
      const VariableColumn* own = source.table.find(name);
      if (own != nullptr) item = std::max(item, own->item_bytes);
    }
    const std::size_t items = inner_items(input_, dims);
    VariableColumn out = absent_column(v, item, items * sources_.cells.size());
    for (std::size_t i = 0; i < sources_.cells.size(); ++i) {
      const CellSource& source = sources_.cells[i];
      const auto to = std::span(out.bytes).subspan(i * items * item, items * item);
      if (source.kind == CellSource::Kind::Packed && packed) {
        const std::size_t size = packed->bytes.size() / sources_.cells.size();
        place_items(std::span(packed->bytes).subspan(i * size, size), packed->item_bytes, to, item,
                    fits_of(input_, previous_, dims));
      } else if (const VariableColumn* own = source.table.find(name)) {
        place_items(own->bytes, own->item_bytes, to, item, fits_of(input_, source.table, dims));
      }
    }
    return out;
  }

  const StoredPlan& plan_;
  const PackSources& sources_;
  std::vector<VariableColumn> identity_;  // what the plan knows; first the axis `cell`
  ColumnTable records_;
  ColumnTable previous_;  // axes of the packed file before
  PackAxes axes_;
  AxisSizes sizes_;
  std::set<std::string> names_;
  PackInput input_;
};

/// Where plans are damaged: that the packed file has rows of cells which are not known any more,
/// and must not be replaced. Else empty.
std::string rows_to_lose(const Store& store, const StoredPlan& plan) {
  const std::filesystem::path packed = store.packed_file();
  if (plan.damages.empty() || !something_at(packed, store.fs())) return {};
  try {
    std::set<CellId> known;
    for (const StoredCell& cell : plan.cells) known.insert(cell.id);
    const VariableColumn cells = TableReader(packed, store.fs()).read("cell");
    for (std::size_t i = 0; i < cells.items(); ++i) {
      if (known.contains(std::string(cells.text(i)))) continue;
      return packed.string() +
             ": stays as it is, as it has rows of cells that only a damaged plan has (" +
             std::string(cells.text(i)) +
             ", for example); depthgrid run mends the plan; to pack without these rows, move the "
             "file away";
    }
  } catch (const StorageError&) {
    return {};  // it has no rows to lose
  }
  return {};
}

}  // namespace

PackReport pack(const Store& store) {
  const StoredPlan plan = read_plan(store);
  remove_dead_scratch(store.root(), store.fs());
  PackReport out;
  out.file = store.packed_file();
  out.cells = static_cast<std::int64_t>(plan.cells.size());
  for (int again = 0; again <= kTimesAgain; ++again) {
    const PackSources sources = gather_sources(store, plan);
    out.finished = 0;
    for (const CellSource& source : sources.cells) {
      if (!source.seal.empty()) ++out.finished;
      if (!source.seal.empty() && source.kind != CellSource::Kind::Packed) ++out.added;
    }
    for (const std::string& problem : sources.problems) {
      if (std::ranges::find(out.problems, problem) == out.problems.end()) {
        out.problems.push_back(problem);
      }
    }
    if (sources.previous && sources.previous->text_attribute("source_digest") == sources.digest &&
        sources.previous->text_attribute("format_version") == kFormatVersion) {
      break;
    }
    if (const std::string lost = rows_to_lose(store, plan); !lost.empty()) {
      out.problems.push_back(lost);
      return out;
    }
    if (sources.damaged_previous && something_at(out.file, store.fs())) {
      quarantine(out.file, store.fs());
    }
    store.upgrade();
    Packer(store, plan, sources).write();
    out.written = true;
    // While we wrote, another process may have packed a newer view, which ours has replaced. Each
    // checks again after writing, so the last one to write leaves nothing out.
    if (finalised_digest(store, plan) == sources.finalised) break;
  }
  return out;
}

}  // namespace depthgrid
