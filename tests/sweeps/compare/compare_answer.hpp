#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {

/// All that the verb prints.
struct CompareAnswer {
  std::optional<NoContrast> problem;
  std::string text;
  Table csv;
  nlohmann::json json;

  std::string sentence() const { return problem ? problem->sentence : ""; }
};

inline CompareAnswer answer(const GridCells& cells, const ComparisonQuery& query,
                            const std::vector<std::size_t>& rows) {
  const Comparison comparison = compare_cells(cells.listing, rows, query);
  CompareAnswer out;
  out.problem = no_contrast(cells.listing, rows, comparison);
  out.text = comparison_text(cells.listing, comparison);
  out.csv = comparison_csv_table(comparison);
  out.json = parse_json(comparison_json(cells.listing, comparison, out.problem));
  for (const auto& row : out.csv.rows) EXPECT_EQ(row.size(), out.csv.columns.size());
  EXPECT_FALSE(csv_of(out.csv).empty());
  EXPECT_EQ(out.json.at("problem").is_null(), !out.problem);
  return out;
}

inline CompareAnswer answer_by(const GridCells& cells, const std::vector<std::string>& by) {
  ComparisonQuery query;
  query.by = by;
  return answer(cells, query, cells.rows());
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The line that begins with this, without runs of blanks.
inline std::string line_of(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) return std::regex_replace(line, std::regex(" +"), " ");
  }
  return {};
}

inline std::string entry(const Table& csv, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(csv.columns, column, &TableColumn::title);
  return at == csv.columns.end() ? "no such column" : csv.rows.at(row).at(at - csv.columns.begin());
}

/// Paths of members that hold a p or a verdict.
inline void collect_tests(const nlohmann::json& json, const std::string& path,
                          std::vector<std::string>& out) {
  static const std::set<std::string> kTests = {"p",         "holm_p",        "p_rising",
                                               "p_falling", "equivalence_p", "verdict"};
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (kTests.contains(name) && !value.is_null()) out.push_back(path + "." + name);
      collect_tests(value, path + "." + name, out);
    }
  }
  if (json.is_array()) {
    for (const nlohmann::json& one : json) collect_tests(one, path + "[]", out);
  }
}

/// No p and no verdict in anything that is printed.
inline void expect_no_p(const CompareAnswer& of) {
  std::vector<std::string> tests;
  collect_tests(of.json, "", tests);
  EXPECT_EQ(tests, std::vector<std::string>());
  for (std::size_t row = 0; row < of.csv.rows.size(); ++row) {
    for (const char* column :
         {"t", "p", "holm_p", "sign_flip_p", "equivalence_p", "g", "detectable", "verdict"}) {
      EXPECT_EQ(entry(of.csv, row, column), "") << column;
    }
  }
  // probability_text() leaves the zero before the point out, no other number does.
  static const std::regex probability("(^|[ <])\\.[0-9]|p 1\\n");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(of.text, found, probability)) << found.str() << "\n" << of.text;
  for (const char* word : {"differs", "undecided", "beyond"}) {
    EXPECT_FALSE(has(of.text, word)) << of.text;
  }
}

inline GridCells widths(std::int64_t seeds = 5) {
  return GridCells().grid({two_factors()[0]}, seeds,
                          [](const std::vector<std::size_t>& at, std::int64_t seed) {
                            return two_factor_figure({at[0], 0}, seed);
                          });
}

inline void set_status(GridCells& cells, CellStatus status) {
  for (CellSummary& cell : cells.listing.cells) cell.status = status;
}

}  // namespace depthgrid
