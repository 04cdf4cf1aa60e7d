#include "storage/pack/cell_probe_records.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "storage/columns/variables.hpp"
#include "storage/pack/pack_axes.hpp"

namespace depthgrid {
namespace {

bool is_axis(const VariableColumn& column) {
  return column.dims.size() == 1 && column.dims[0] == column.name;
}

/// A merge of the tables of one cell: its own, and later ones that go over it.
class CellTables {
 public:
  CellTables(const ColumnTable& own, std::span<const ColumnTable> later)
      : own_(own), later_(later) {
    axes_.add(own);
    for (const ColumnTable& table : later) axes_.add(table);
    axes_.finish();
    out_.sizes = own.sizes;
    for (const ColumnTable& table : later) {
      out_.sizes.insert(table.sizes.begin(), table.sizes.end());
    }
    for (const auto& [axis, size] : axes_.sizes()) out_.sizes[axis] = size;
    // Files of other versions may have fewer labels, or more.
    for (auto& [axis, size] : out_.sizes) {
      const std::size_t labels = labels_of(dimension(axis)).size();
      if (labels > 0) size = static_cast<std::int64_t>(labels);
    }
    out_.attributes = own.attributes;
  }

  ColumnTable merged() && {
    add_axes();
    for (const VariableColumn& column : own_.columns) {
      if (!is_axis(column)) out_.columns.push_back(fitted(column));
    }
    for (const ColumnTable& table : later_) {
      for (const VariableColumn& column : table.columns) {
        if (!is_axis(column) && out_.find(column.name) == nullptr) {
          out_.columns.push_back(fitted(column));
        }
      }
    }
    return std::move(out_);
  }

 private:
  void add_axes() {
    out_.columns = axes_.coordinates();
    const auto add = [this](const ColumnTable& table) {
      for (const VariableColumn& column : table.columns) {
        if (!is_axis(column) || out_.find(column.name) != nullptr) continue;
        const Dimension& axis = dimension(column.name);
        const bool plain = axis.kind == AxisKind::Padded || axis.kind == AxisKind::Fixed;
        out_.columns.push_back(plain ? coordinate(axis, out_.sizes.find(column.name)->second)
                                     : column);
      }
    };
    add(own_);
    for (const ColumnTable& table : later_) add(table);
  }

  /// A column with the lengths of all tables, and what they have of it.
  VariableColumn fitted(const VariableColumn& column) const {
    const Variable* variable = find_variable(column.name);
    if (variable == nullptr || column.dims.front() != "cell") return column;
    const auto steps = out_.sizes.find("probe_step");
    if (column.name == "n_probes" && steps != out_.sizes.end()) {
      const double measurements = static_cast<double>(steps->second);
      VariableColumn count =
          number_column(column.name, column.dims, column.type, {&measurements, 1});
      count.attributes = column.attributes;
      return count;
    }
    if (column.dims.size() < 2) return column;
    VariableColumn out = absent_column(*variable, column.item_bytes, out_.items(column.dims));
    place(own_, out);
    for (const ColumnTable& table : later_) {
      forget_steps_of(table, out);
      place(table, out);
    }
    return out;
  }

  /// Removes what earlier tables have of a variable at the steps of this one: by other settings, at
  /// other bins or for fewer exponents, it would stand beside the new numbers as if it were of
  /// them.
  void forget_steps_of(const ColumnTable& record, VariableColumn& to) const {
    const VariableColumn* column = record.find(to.name);
    if (column == nullptr || to.dims[1] != "probe_step") return;
    const auto steps = static_cast<std::size_t>(out_.sizes.find("probe_step")->second);
    const std::size_t row = to.bytes.size() / steps;
    const std::vector<std::byte> nothing =
        absent_items(to.type, to.item_bytes, row / to.item_bytes);
    for (const std::int64_t at : axes_.positions(*record.find("probe_step"))) {
      std::ranges::copy(nothing, to.bytes.begin() + at * static_cast<std::ptrdiff_t>(row));
    }
  }

  void place(const ColumnTable& from, VariableColumn& to) const {
    const VariableColumn* column = from.find(to.name);
    if (column == nullptr) return;
    std::vector<AxisFit> fits;
    for (std::size_t i = 1; i < to.dims.size(); ++i) {
      fits.push_back(axes_.fit(from, to.dims[i], length_of(out_.sizes, to.dims[i])));
    }
    place_items(column->bytes, column->item_bytes, to.bytes, to.item_bytes, fits);
  }

  const ColumnTable& own_;
  std::span<const ColumnTable> later_;
  PackAxes axes_;
  ColumnTable out_;
};

}  // namespace

ColumnTable with_probe_records(const ColumnTable& own, std::span<const ColumnTable> records) {
  return records.empty() ? own : CellTables(own, records).merged();
}

ColumnTable with_facts(const ColumnTable& own, const ColumnTable& snapshot) {
  ColumnTable more;
  std::set<std::string> axes;
  for (const VariableColumn& column : snapshot.columns) {
    if (is_axis(column) || column.dims.front() != "cell" || own.find(column.name) != nullptr) {
      continue;
    }
    axes.insert(column.dims.begin(), column.dims.end());
    more.columns.push_back(column);
  }
  for (const VariableColumn& column : snapshot.columns) {
    if (is_axis(column) && axes.contains(column.name)) more.columns.push_back(column);
  }
  for (const std::string& axis : axes) more.sizes[axis] = length_of(snapshot.sizes, axis);
  return more.columns.empty() ? own : CellTables(own, {&more, 1}).merged();
}

}  // namespace depthgrid
