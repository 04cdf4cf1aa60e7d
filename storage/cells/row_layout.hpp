#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/cells/cell_axes.hpp"
#include "storage/files/journal.hpp"

namespace depthgrid {

/// Position of a variable's numbers: `count` of them from `first` on in the rows of a kind.
struct RowSlot {
  std::size_t kind = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Lays out the rows of a journal by the table of variables: the axis after `cell` gives the kind
/// of row, the later axes give the number of values. Names are looked up here, when a job begins;
/// rows are written by slot.
class RowLayout {
 public:
  /// Sets the length, and labels if any, of an axis that is not fixed; call it before add().
  /// @throws Error like CellAxes::give().
  void give(const RowAxis& axis) { axes_.give(axis); }

  /// @throws Error for an unknown or repeated name, for a variable that is not a series, and,
  /// naming variable and axis, for an axis of unknown length.
  RowSlot add(std::string_view variable);

  /// For the header of the journal.
  const std::vector<RowKind>& kinds() const { return kinds_; }
  std::vector<RowAxis> axes() const { return axes_.explicit_axes(); }

 private:
  CellAxes axes_;
  std::vector<RowKind> kinds_;
};

/// Axis of a kind: "step" for "train", "" for "cell". @throws Error for an unknown kind of row.
std::string_view axis_of_kind(std::string_view kind);

}  // namespace depthgrid
