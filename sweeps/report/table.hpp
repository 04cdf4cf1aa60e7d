#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Alignment of a column's entries.
enum class Align : std::uint8_t { Left, Right };

/// Title and alignment of a column.
struct TableColumn {
  std::string title;
  Align align = Align::Left;
};

/// Rows of text with column titles. Every row has one entry per column. As text, entries are
/// printable() and in one line; as CSV they are what they are.
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// A table without rows, with columns of these titles; those that begin with '>' are aligned to the
/// right, and the sign is not shown.
Table titled_table(std::initializer_list<std::string_view> titles);

/// Whether a text may contain the escapes of a terminal.
enum class Colour : std::uint8_t { No, Yes };

/// Aligned columns separated by two blanks, no trailing blanks. Widths are in code points.
/// @param colour  Yes: titles are bold, and states of cells (completed, failed, …) coloured.
std::string text_of(const Table& table, Colour colour = Colour::No);

/// RFC 4180 with "\n" line ends; the first line holds the titles.
std::string csv_of(const Table& table);

/// Four decimals from 1e-3 to 1e5 and for 0, otherwise four significant digits; "-" for NaN.
std::string short_number(double number);
/// 1536 -> "1.5 KiB"; "-" for NaN.
std::string short_bytes(double bytes);
/// 3725 -> "1 h 02 min", 2.5 -> "2.5 s"; "-" for NaN.
std::string short_seconds(double seconds);

}  // namespace depthgrid
