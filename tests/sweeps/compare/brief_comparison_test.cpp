#include "sweeps/compare/brief_comparison.hpp"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sweeps/compare/compare_answer.hpp"

namespace depthgrid {
namespace brief_comparison_test {

std::string brief(const GridCells& cells, int columns, int rows = 60) {
  const Comparison by_arm = compare_cells(cells.listing, cells.rows(), {});
  return brief_comparison(cells.listing, by_arm, std::nullopt, {.columns = columns, .rows = rows});
}

/// Arms that differ in the middle of their names, as those of a grid do.
GridCells grid_of(const std::vector<int>& widths, const std::vector<std::string>& scales) {
  GridCells out;
  for (const int width : widths) {
    for (const std::string& scale : scales) {
      const double base = 2 + 0.01 * width + 0.001 * static_cast<double>(scale.size());
      out.arm(fmt::format("hidden={},scale={}", width, scale), {base, base + 0.1, base + 0.3});
    }
  }
  return out.baseline(out.listing.cells.front().arm);
}

/// First words of the rows of the table.
std::vector<std::string> first_words(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !line.starts_with("more:");) {
    out.push_back(line.substr(0, line.find(' ')));
  }
  out.erase(out.begin());
  return out;
}

TEST(BriefComparison, NamesStandWholeWhereThereIsRoom) {
  const std::string text = brief(grid_of({16, 64}, {"1", "1/L"}), 200);
  EXPECT_TRUE(text.starts_with("arm ")) << text;
  EXPECT_TRUE(has(text, "hidden=64,scale=1/L ")) << text;
}

TEST(BriefComparison, RowsCanBeToldApartAtAnyWidth) {
  const GridCells cells = grid_of({16, 32, 64, 128}, {"1", "1/L", "sqrt_L"});
  for (int columns = 20; columns <= 160; ++columns) {
    const std::vector<std::string> names = first_words(brief(cells, columns));
    ASSERT_EQ(names.size(), 12U) << columns;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 12U)
        << columns << " columns\n"
        << brief(cells, columns);
  }
}

TEST(BriefComparison, NamesThatWouldCollideLoseTheirLeaves) {
  const std::string text = brief(grid_of({16, 32, 64, 128}, {"1", "1/L"}), 75);
  EXPECT_TRUE(text.starts_with("hidden,scale ")) << text;
  EXPECT_TRUE(has(text, "\n64,1/L ")) << text;
  EXPECT_TRUE(has(text, "\n16,1 * ")) << text;
  EXPECT_FALSE(has(text, "…")) << text;
}

TEST(BriefComparison, AnArmWithANameOfItsOwnKeepsItBesideThem) {
  GridCells cells = grid_of({16, 32, 64, 128}, {"1", "1/L"});
  cells.arm("gpt2", {2, 2.1, 2.2});
  const std::string text = brief(cells, 75);
  EXPECT_TRUE(has(text, "\ngpt2 ") && has(text, "\n64,1/L ")) << text;
  // A list is one value, and an arm of other leaves keeps all whole.
  GridCells lists;
  for (const char* const list : {"[1,2]", "[1,3]"}) {
    for (const char* const scale : {"1", "1/L"}) {
      lists.arm(fmt::format("layers_of_heads={},scale={}", list, scale), {2, 2.1, 2.2});
    }
  }
  EXPECT_TRUE(has(brief(lists, 30), "\n[1,3],1/L ")) << brief(lists, 30);
  lists.arm("other=1", {2, 2.1, 2.2});
  EXPECT_TRUE(has(brief(lists, 30), "\nlayers_of_heads=[1,3],scale=1/L ")) << brief(lists, 30);
}

TEST(BriefComparison, AnArmThatDivergedSaysSo) {
  GridCells cells = grid_of({16, 64}, {"1"});
  EXPECT_FALSE(has(brief(cells, 120), "missing"));
  for (int seed = 0; seed < 3; ++seed) {
    CellSummary& cell = cells.at("hidden=64,scale=1", seed);
    cell.status = CellStatus::Diverged;
    cell.metrics.clear();
  }
  const std::string text = brief(cells, 120);
  EXPECT_TRUE(has(line_of(text, "hidden=64,scale=1 "), "3 diverged")) << text;
}

}  // namespace brief_comparison_test
}  // namespace depthgrid
