#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/journal.hpp"

namespace depthgrid {

/// Lengths and labels of the axes of one cell: every variable of a cell has the same.
class CellAxes {
 public:
  /// Sets an axis from the job. @throws Error naming the axis if its labels do not fit its length
  /// or its kind, or if it was given differently before.
  void give(const RowAxis& axis);

  /// Lengths of the axes of `v` from the `first` on; `count` is their product. A length that is
  /// neither fixed nor known yet follows from the count, and holds for later variables.
  /// @throws Error naming variable, axes and lengths if the count does not fit or two are unknown.
  std::vector<std::int64_t> shape(const Variable& v, std::size_t first, std::int64_t count);

  /// Product of the lengths of the axes of `v` from the `first` on. @throws Error if one is
  /// unknown.
  std::int64_t width(const Variable& v, std::size_t first);

  /// The axes of `v` from the `first` on, as they were given or followed from counts.
  std::vector<RowAxis> axes(const Variable& v, std::size_t first) const;

  /// Length of an axis that some variable uses; 0 if none does.
  std::int64_t used(const std::string& axis) const;

  /// Axes that a reader cannot derive from the numbers of a row: those with labels or values, and
  /// those of variables with two open axes.
  std::vector<RowAxis> explicit_axes() const;

  /// Adds the lengths of all axes that some variable uses, and the coordinates given with rows.
  void add_to(ColumnTable& table) const;

 private:
  struct Axis {
    RowAxis row;
    std::string from;   // the variable whose count determined it; empty: given, or fixed
    bool used = false;  // by some variable
    bool explicit_axis = false;
  };
  std::map<std::string, Axis> axes_;
};

}  // namespace depthgrid
