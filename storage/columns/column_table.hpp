#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "storage/columns/dimensions.hpp"

namespace depthgrid {

/// Attribute of a file or a variable; the list of small integers is for flags.
using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int8_t>>;
/// Attributes by name, in the order of the file.
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// One variable in memory: numbers with the same bytes as in the file, texts padded to one width.
struct VariableColumn {
  std::string name;
  std::vector<std::string> dims;
  DataType type = DataType::Float64;
  std::size_t item_bytes = 8;    // width of a Text column, else bytes_of(type)
  std::vector<std::byte> bytes;  // row-major over dims
  Attributes attributes;

  std::size_t items() const { return item_bytes == 0 ? 0 : bytes.size() / item_bytes; }
  /// Item as a number; NaN for Text.
  double number(std::size_t item) const;
  std::int64_t integer(std::size_t item) const;
  /// Item of a Text column, without padding.
  std::string text(std::size_t item) const;
  /// All of them.
  std::vector<std::string> texts() const;
};

/// A group of variables over shared axes: the root group of one HDF5 file.
struct ColumnTable {
  std::map<std::string, std::int64_t, std::less<>> sizes;  // length of each axis
  std::vector<VariableColumn> columns;
  Attributes attributes;

  /// nullptr if there is no column of that name.
  const VariableColumn* find(std::string_view name) const;
  /// Product of the lengths of `dims`, the axes of a column. @throws Error for an axis without one.
  std::size_t items(const std::vector<std::string>& dims) const;
  /// Text of a root attribute; empty if there is none.
  std::string text_attribute(std::string_view name) const;
};

/// Numbers as items of `type`, row-major over `dims`: NaN becomes -1 in integers, other values are
/// rounded to nearest. @throws Error for type Text.
VariableColumn number_column(std::string name, std::vector<std::string> dims, DataType type,
                             std::span<const double> values);
/// The same from integers, without rounding to double.
VariableColumn integer_column(std::string name, std::vector<std::string> dims, DataType type,
                              std::span<const std::int64_t> values);
/// Texts of fixed width in bytes: that of the longest value rounded up to a multiple of 8, at
/// least 8.
VariableColumn text_column(std::string name, std::vector<std::string> dims,
                           std::span<const std::string> values);

/// Adds the attributes of a variable of the table (storage/columns/variables.hpp) or of an axis, by
/// its name and type.
void describe(VariableColumn& column);

/// Bytes of the value that means "absent": NaN, -1, or an empty text.
std::vector<std::byte> fill_item(DataType type, std::size_t item_bytes);

/// Coordinate of an axis that needs no data: the labels of a fixed axis, 0 ... n-1 or 1 ... n for
/// others.
VariableColumn coordinate(const Dimension& dimension, std::int64_t size);

}  // namespace depthgrid
