#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Type of a column in the file: i1 i4 i8 f4 f8, or UTF-8 of variable length. Only types that the
/// netCDF library reads: numbers of two bytes it does not (docs/store-format.md, Readers).
enum class DataType : std::uint8_t { Int8, Int32, Int64, Float32, Float64, Text };

/// NumPy's spelling: "i1", "i4", "i8", "f4", "f8" or "S".
std::string_view name_of(DataType type) noexcept;

/// Bytes per number; 0 for Text, whose width is a property of the column.
std::size_t bytes_of(DataType type) noexcept;

/// How an axis behaves when files of cells are merged.
enum class AxisKind : std::uint8_t {
  Cell,     // one row per cell, in the order of the plan
  Joined,   // outer join: the coordinate holds optimiser steps, rows are matched by value
  Padded,   // 0 ... n-1 or 1 ... n: as long as the longest cell, others are padded
  Fixed,    // the same labels in every file
  Ragged,   // records of all cells, concatenated
  Labelled  // union of names, or of values for numeric types; given with the rows
};

/// One axis of the files: `sweep.h5` has a coordinate variable of the same name.
struct Dimension {
  std::string_view name;
  DataType type;
  AxisKind kind;
  std::int64_t first;     // of a Padded or Ragged axis: 0 or 1
  std::string_view axis;  // CF attribute: "Z", "T" or ""
  std::string_view long_name;
};

/// The tables that dimensions() joins. Defined in a file of its own, so that a test program can add
/// a table.
std::vector<std::span<const Dimension>> axis_tables();
std::span<const Dimension> store_axes();

/// All axes. Source: the table of variables, docs/store-format.md.
std::span<const Dimension> dimensions();

/// @throws Error for an unknown name (a bug).
const Dimension& dimension(std::string_view name);

/// Labels of a Fixed axis; empty for every other.
std::span<const std::string_view> labels_of(const Dimension& dimension);

/// Order of the labels of a Labelled axis of texts: those that the program knows, in this order;
/// all others follow, sorted.
std::span<const std::string_view> known_labels(const Dimension& dimension);

}  // namespace depthgrid
