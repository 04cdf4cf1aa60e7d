#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {

/// Mapping of one axis of a source to the packed file.
struct AxisFit {
  std::int64_t own = 1;                 // length in the source
  std::int64_t all = 1;                 // length in the packed file
  std::vector<std::int64_t> positions;  // of each own index; empty: 0 ... own-1
};

/// Length of each axis, by name.
using AxisSizes = std::map<std::string, std::int64_t, std::less<>>;

/// @throws Error naming the axis if it has no length.
std::int64_t length_of(const AxisSizes& sizes, const std::string& axis);

/// Lengths of the axes of the packed file, and the union of the steps and labels of all cells.
class PackAxes {
 public:
  /// Axes of one source: a step axis brings its steps, a labelled one its labels, the others their
  /// length.
  void add(const ColumnTable& source);
  void add_steps(const std::string& axis, std::span<const std::int64_t> steps);

  /// Sorts steps and labels (known_labels() first), so that the order in which cells were packed
  /// does not show; add nothing afterwards.
  void finish();

  const AxisSizes& sizes() const { return sizes_; }
  /// Coordinates of the axes that are unions.
  std::vector<VariableColumn> coordinates() const;

  /// Index of each of `own` (ascending) among the axis's steps. @throws Error if one is absent.
  std::vector<std::int64_t> positions(const std::string& axis,
                                      std::span<const std::int64_t> own) const;
  /// Of a source's coordinate among the steps or labels of its axis.
  std::vector<std::int64_t> positions(const VariableColumn& own) const;
  /// Mapping of a source's axis. @param all  its length in the packed file.
  /// @throws Error if the source has no length of it.
  AxisFit fit(const ColumnTable& source, const std::string& axis, std::int64_t all) const;

 private:
  void add_labels(const VariableColumn& own);

  AxisSizes sizes_;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> steps_;
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;  // of labelled axes
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

/// Copies items of `from` (row-major, lengths `own`) to their places in `to` (lengths `all`). Texts
/// may be narrower in the source; the rest of the item is left unchanged. What is beyond the end of
/// an axis of `to` (labels of a later version) is left out.
void place_items(std::span<const std::byte> from, std::size_t from_item, std::span<std::byte> to,
                 std::size_t to_item, std::span<const AxisFit> axes);

/// A variable with its attributes and `items` absent values.
VariableColumn absent_column(const Variable& v, std::size_t item_bytes, std::size_t items);

/// `items` absent values.
std::vector<std::byte> absent_items(DataType type, std::size_t item_bytes, std::size_t items);

}  // namespace depthgrid
