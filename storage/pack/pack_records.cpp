#include "storage/pack/pack_records.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "storage/columns/variables.hpp"
#include "storage/pack/pack_axes.hpp"

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

}  // namespace

ColumnTable packed_records(const PackSources& sources, const StoredPlan& plan) {
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
  return out;
}

}  // namespace depthgrid
