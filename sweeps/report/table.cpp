#include "sweeps/report/table.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/cell.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

/// Continuation bytes of UTF-8 have no width.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Escapes (SGR codes of ECMA-48) for states of cells.
struct Paint {
  CellStatus status;
  const char* code;
};
constexpr Paint kPaints[] = {{CellStatus::Completed, "32"}, {CellStatus::Running, "36"},
                             {CellStatus::Diverged, "33"},  {CellStatus::Failed, "31"},
                             {CellStatus::Oom, "31"},       {CellStatus::Cancelled, "31"}};

std::string painted(const std::string& text, bool title) {
  const char* code = title && !text.empty() ? "1" : nullptr;
  for (const Paint& paint : kPaints) {
    if (!title && text == name_of(paint.status)) code = paint.code;
  }
  return code == nullptr ? text : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// An entry as it may go to a terminal: in one line, names without escapes that are none of ours.
std::string printable_entry(const std::string& text) {
  std::string out = printable(text);
  std::ranges::replace_if(out, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

/// The titles, then the rows.
std::vector<std::vector<std::string>> lines_of(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const TableColumn& column : table.columns) lines[0].push_back(column.title);
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  return lines;
}

}  // namespace

Table titled_table(std::initializer_list<std::string_view> titles) {
  Table out;
  for (const std::string_view title : titles) {
    const bool right = title.starts_with('>');
    out.columns.push_back(
        {std::string(title.substr(right ? 1 : 0)), right ? Align::Right : Align::Left});
  }
  return out;
}

std::string text_of(const Table& table, Colour colour) {
  auto lines = lines_of(table);
  for (auto& fields : lines) {
    for (std::string& field : fields) field = printable_entry(field);
  }
  const std::size_t columns = table.columns.size();
  std::vector<std::size_t> widths(columns);
  for (const auto& fields : lines) {
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], width_of(fields[c]));
  }
  std::string out;
  for (const auto& fields : lines) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string pad(widths[c] - width_of(fields[c]), ' ');
      const bool title = &fields == &lines.front();
      const std::string entry = colour == Colour::Yes ? painted(fields[c], title) : fields[c];
      if (c > 0) line += "  ";
      line += table.columns[c].align == Align::Left ? entry + pad : pad + entry;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string csv_of(const Table& table) {
  std::string out;
  for (const auto& fields : lines_of(table)) {
    for (std::size_t c = 0; c < fields.size(); ++c)
      out += (c > 0 ? "," : "") + csv_field(fields[c]);
    out += '\n';
  }
  return out;
}

std::string short_number(double number) {
  if (std::isnan(number)) return "-";
  const double size = std::abs(number);
  if (size == 0 || (size >= 1e-3 && size < 1e5)) return fmt::format("{:.4f}", number);
  return fmt::format("{:.4g}", number);
}

std::string short_bytes(double bytes) {
  if (std::isnan(bytes)) return "-";
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string short_seconds(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace depthgrid
