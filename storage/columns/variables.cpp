#include "storage/columns/variables.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace depthgrid {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    out.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// A "|" in the text must not end a cell of the Markdown table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string_view kind_text(const Dimension& axis) {
  constexpr std::array<std::string_view, 6> kTexts = {"one row per cell, in the order of the plan",
                                                      "union of the steps of all cells",
                                                      "as long as the longest cell",
                                                      "fixed",
                                                      "records of all cells, one after another",
                                                      "union of the names"};
  if (axis.kind == AxisKind::Labelled && axis.type != DataType::Text) return "union of the values";
  return kTexts[static_cast<std::size_t>(axis.kind)];
}

}  // namespace

std::span<const Variable> variables() {
  static const std::vector<Variable> kAll = [] {
    std::vector<Variable> all;
    for (const auto table : variable_tables()) all.insert(all.end(), table.begin(), table.end());
    return all;
  }();
  return kAll;
}

const Variable* find_variable(std::string_view name) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const Variable*> rows;
    for (const Variable& v : variables()) rows.emplace(v.name, &v);
    return rows;
  }();
  const auto at = kByName.find(name);
  return at == kByName.end() ? nullptr : at->second;
}

std::vector<std::string> axes_of(const Variable& variable) {
  return split_at_commas(variable.dims);
}

bool is_record_axis(std::string_view axis) {
  return axis != "cell" && std::ranges::any_of(variables(), [axis](const Variable& v) {
           return v.dims.substr(0, v.dims.find(',')) == axis;
         });
}

std::vector<std::int64_t> fixed_lengths(const Variable& variable, std::size_t first) {
  const std::vector<std::string> axes = axes_of(variable);
  std::vector<std::int64_t> out;
  for (std::size_t i = first; i < axes.size(); ++i) {
    out.push_back(static_cast<std::int64_t>(labels_of(dimension(axes[i])).size()));
  }
  return out;
}

std::int64_t row_numbers(std::string_view step_axis) {
  std::int64_t out = 0;
  for (const Variable& v : variables()) {
    const std::vector<std::string> axes = axes_of(v);
    if (v.optional || axes.size() < 2 || axes[1] != step_axis) continue;
    std::int64_t width = 1;
    for (const std::int64_t length : fixed_lengths(v, 2)) width *= length;
    out += width;
  }
  return out;
}

std::vector<Flag> flags_of(std::string_view long_name) {
  constexpr std::string_view kPrefix = "flag:";
  std::vector<Flag> out;
  if (!long_name.starts_with(kPrefix)) return out;
  const std::string_view list =
      long_name.substr(kPrefix.size(), long_name.find(';') - kPrefix.size());
  for (const std::string& item : split_at_commas(list)) {
    const auto digits = item.find_first_not_of("-0123456789");
    if (digits == 0 || digits == std::string::npos) {  // "non-finite, update masked" is one meaning
      if (!out.empty()) out.back().meaning += "_" + item;
    } else {
      const auto word = item.find_first_not_of(" =", digits);
      out.push_back({std::stoi(item.substr(0, digits)), item.substr(word)});
    }
  }
  for (Flag& flag : out) std::ranges::replace(flag.meaning, ' ', '_');
  return out;
}

std::string variables_markdown() {
  std::string out = "| axis | dtype | length | meaning |\n|---|---|---|---|\n";
  const auto cell = [&out](std::string_view text) { out += " " + escaped(text) + " |"; };
  for (const Dimension& d : dimensions()) {
    out += "| `" + std::string(d.name) + "` |";
    cell(name_of(d.type));
    cell(kind_text(d));
    cell(d.long_name);
    out += "\n";
  }
  out += "\n| variable | axes | dtype | units | meaning | written | defined in |\n";
  out += "|---|---|---|---|---|---|---|\n";
  for (const Variable& v : variables()) {
    out += "| `" + std::string(v.name) + "` |";
    cell(v.dims);
    cell(name_of(v.type));
    cell(v.units);
    cell(v.long_name);
    cell(v.schedule);
    cell(v.source);
    out += "\n";
  }
  return out;
}

}  // namespace depthgrid
