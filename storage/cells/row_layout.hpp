#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/cells/cell_axes.hpp"
#include "storage/files/journal.hpp"

namespace depthgrid {

/// Where the numbers of a variable lie: `count` of them from `first` on in the rows of a kind.
struct RowSlot {
  std::size_t kind = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Lays out the rows of a journal by the table of variables: the axis behind `cell` says the kind
/// of row, the axes behind that say how many numbers the variable has. Names are looked up here,
/// when a job begins; rows are written by slot.
class RowLayout {
 public:
  /// Length of an axis that is not fixed, with its labels where it has some; before the variables.
  /// @throws Error as CellAxes::give().
  void give(const RowAxis& axis) { axes_.give(axis); }

  /// @throws Error for a name that the table lacks or that was added before, for a variable that is
  /// no series, and naming variable and axis where the length of one is not known.
  RowSlot add(std::string_view variable);

  /// For the header of the journal.
  const std::vector<RowKind>& kinds() const { return kinds_; }
  std::vector<RowAxis> axes() const { return axes_.told(); }

 private:
  CellAxes axes_;
  std::vector<RowKind> kinds_;
};

/// "step" of "train" and so on; "" of "cell". @throws Error for an unknown kind of row.
std::string_view axis_of_kind(std::string_view kind);

}  // namespace depthgrid
