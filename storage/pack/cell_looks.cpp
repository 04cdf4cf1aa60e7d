#include "storage/pack/cell_looks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "storage/columns/variables.hpp"
#include "storage/pack/pack_axes.hpp"

namespace depthgrid {
namespace {

bool is_axis(const VariableColumn& column) {
  return column.dims.size() == 1 && column.dims[0] == column.name;
}

/// A merge of the tables of one cell.
class Looks {
 public:
  Looks(const ColumnTable& own, std::span<const ColumnTable> looks) : own_(own), looks_(looks) {
    axes_.add(own);
    for (const ColumnTable& look : looks) axes_.add(look);
    axes_.finish();
    out_.sizes = own.sizes;
    for (const ColumnTable& look : looks) out_.sizes.insert(look.sizes.begin(), look.sizes.end());
    for (const auto& [axis, size] : axes_.sizes()) out_.sizes[axis] = size;
    out_.attributes = own.attributes;
  }

  ColumnTable merged() && {
    add_axes();
    for (const VariableColumn& column : own_.columns) {
      if (!is_axis(column)) out_.columns.push_back(fitted(column));
    }
    for (const ColumnTable& look : looks_) {
      for (const VariableColumn& column : look.columns) {
        if (column.dims.size() < 2 || out_.find(column.name) != nullptr) continue;
        out_.columns.push_back(fitted(column));
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
        const bool padded = dimension(column.name).kind == AxisKind::Padded;
        out_.columns.push_back(
            padded ? coordinate(dimension(column.name), out_.sizes.find(column.name)->second)
                   : column);
      }
    };
    add(own_);
    for (const ColumnTable& look : looks_) add(look);
  }

  /// A column with the lengths of all tables, and the looks at it.
  VariableColumn fitted(const VariableColumn& column) const {
    const Variable* variable = find_variable(column.name);
    if (variable == nullptr || column.dims.front() != "cell") return column;
    if (column.name == "n_probes") {
      const double looks = static_cast<double>(out_.sizes.find("probe_step")->second);
      VariableColumn count = number_column(column.name, column.dims, column.type, {&looks, 1});
      count.attributes = column.attributes;
      return count;
    }
    if (column.dims.size() < 2) return column;
    VariableColumn out = absent_column(*variable, column.item_bytes, out_.items(column.dims));
    place(own_, out);
    for (const ColumnTable& look : looks_) {
      forget_steps_of(look, out);
      place(look, out);
    }
    return out;
  }

  /// Removes what earlier tables have of a variable at the steps of this one: by other settings, at
  /// other bins or for fewer exponents, it would stand beside the new numbers as if it were of
  /// them.
  void forget_steps_of(const ColumnTable& look, VariableColumn& to) const {
    const VariableColumn* column = look.find(to.name);
    if (column == nullptr || to.dims[1] != "probe_step") return;
    const auto steps = static_cast<std::size_t>(out_.sizes.find("probe_step")->second);
    const std::size_t row = to.bytes.size() / steps;
    const std::vector<std::byte> nothing =
        absent_items(to.type, to.item_bytes, row / to.item_bytes);
    for (const std::int64_t at : axes_.positions(*look.find("probe_step"))) {
      std::ranges::copy(nothing, to.bytes.begin() + at * static_cast<std::ptrdiff_t>(row));
    }
  }

  void place(const ColumnTable& from, VariableColumn& to) const {
    const VariableColumn* column = from.find(to.name);
    if (column == nullptr) return;
    std::vector<AxisFit> fits;
    for (std::size_t i = 1; i < to.dims.size(); ++i) {
      fits.push_back(axes_.fit(from, to.dims[i], out_.sizes.find(to.dims[i])->second));
    }
    place_items(column->bytes, column->item_bytes, to.bytes, to.item_bytes, fits);
  }

  const ColumnTable& own_;
  std::span<const ColumnTable> looks_;
  PackAxes axes_;
  ColumnTable out_;
};

}  // namespace

ColumnTable with_looks(const ColumnTable& own, std::span<const ColumnTable> looks) {
  return looks.empty() ? own : Looks(own, looks).merged();
}

}  // namespace depthgrid
