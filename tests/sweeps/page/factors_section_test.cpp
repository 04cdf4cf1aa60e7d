#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/variance_blocks.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace factors_section_test {

PageBlocks factors_of(const GridCells& cells, const PageQuery& query = {}) {
  return factors_section(page_data(cells.listing, query, {}));
}

std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> out;
  for (const TableColumn& column : table.columns) out.push_back(column.title);
  return out;
}

TEST(FactorsSection, NamesTheFamilyAndTheCommandOfAllFactors) {
  const std::string words = words_of(factors_of(two_factor_grid()));
  EXPECT_TRUE(contains(words, "One family: the 3 contrasts of model.d_model, train.lr."));
  EXPECT_TRUE(contains(words, "depthgrid compare grid --by model.d_model,train.lr\n"));
  EXPECT_TRUE(contains(words, "of the family of 3 contrasts")) << "what compare says below";
  EXPECT_TRUE(contains(words, "trend over model.d_model"));
}

TEST(FactorsSection, VerdictsStandWithinTheFirstColumns) {
  const PageBlocks blocks = factors_of(two_factor_grid());
  const PageTable* const table = table_named(blocks, "final_loss.valid by model.d_model");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(titles_of(table->table),
            (std::vector<std::string>{"model.d_model", "mean ± sd", "seeds", "difference",
                                      "95 % interval", "Holm p", "verdict", "detectable"}));
  EXPECT_NE(table->table.rows.at(1).at(7), "-");
  EXPECT_FALSE(table->folded);
  const PageTable* const more =
      table_named(blocks, "further evidence on final_loss.valid by model.d_model");
  ASSERT_NE(more, nullptr);
  EXPECT_TRUE(more->folded);
}

TEST(FactorsSection, ADifferenceThatDoesNotMatterHasItsMargin) {
  PageQuery query;
  query.comparison.margin = 5;
  const PageBlocks blocks = factors_of(two_factor_grid(), query);
  const PageTable* const table = table_named(blocks, "final_loss.valid by train.lr");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->table.rows.at(1).at(6), "no effect beyond 5");
  EXPECT_TRUE(contains(words_of(blocks), "has no effect beyond 5 against 0.1:"));
}

/// Every contrast would count twice in the family.
TEST(FactorsSection, AMatchedWidthIsNoFactorOfItsOwn) {
  GridCells cells;
  for (int seed = 0; seed < 3; ++seed) {
    cells.add({{"model.d_model", 16}, {"model.d_ff", 300}}, seed, 2 + 0.1 * seed);
    cells.add({{"model.d_model", 32}, {"model.d_ff", 100}}, seed, 1 + 0.11 * seed);
  }
  cells.listing.matched.emplace_back().leaf = "model.d_ff";
  const PageData data = page_data(cells.listing, {}, {});
  EXPECT_EQ(data.factors.family, 1U);
  EXPECT_EQ(data.factors.by, std::vector<std::string>{"model.d_model"});
}

/// Lines join neighbours: levels that are numbers ascend, whatever their order in the file.
TEST(FactorsSection, AnInteractionIsDrawnInTheOrderOfItsNumbers) {
  GridCells cells;
  for (const double rate : {1.0, 1.0 / 6, 0.5}) {
    for (const int width : {32, 16}) {
      for (int seed = 0; seed < 3; ++seed) {
        cells.add({{"model.d_model", width}, {"train.lr", rate}}, seed, width * rate + 0.1 * seed);
      }
    }
  }
  const PageBlocks blocks = factors_of(cells);
  const PageChart* const chart = chart_named(blocks, "factors-0-interaction");
  ASSERT_NE(chart, nullptr);
  const std::size_t sixth = chart->svg.find(">1/6<"), half = chart->svg.find(">0.5<"),
                    one = chart->svg.find(">1<");
  EXPECT_LT(sixth, half);
  EXPECT_LT(half, one);
  EXPECT_NE(one, std::string::npos);
}

TEST(FactorsSection, TwoFactorsHaveTheirInteractionAndSharesOfVariance) {
  const PageBlocks blocks = factors_of(two_factor_grid());
  const PageChart* const chart = chart_named(blocks, "factors-0-interaction");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(checked_svg(chart->svg).fault, "");
  EXPECT_EQ(checked_svg(chart->svg).of_class("curve").size(), 3U) << "a line for each d_model";
  ASSERT_EQ(chart->numbers.rows.size(), 6U);
  double mean = 0;
  for (int seed = 0; seed < 5; ++seed) mean += two_factor_figure({2, 1}, seed) / 5;
  EXPECT_EQ(chart->numbers.rows[5][0], "64");
  EXPECT_EQ(chart->numbers.rows[5][1], "0.2");
  EXPECT_NEAR(std::stod(chart->numbers.rows[5][2]), mean, 1e-12);
  const PageTable* const shares = table_named(blocks, "shares of variance of model.d_model");
  ASSERT_NE(shares, nullptr);
  EXPECT_EQ(titles_of(shares->table),
            (std::vector<std::string>{"effect", "η²", "ω²", "F", "degrees", "p"}));
  EXPECT_EQ(shares->table.rows.size(), 3U);
  EXPECT_NE(table_named(blocks, "how effects of model.d_model differ"), nullptr);
  EXPECT_NE(table_named(blocks, "effects at single levels"), nullptr);
  const PageChart* const family = chart_named(blocks, "factors-family");
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(family->numbers.rows.size(), 3U);
  EXPECT_EQ(family->numbers.rows.at(2).at(0), "lr = 0.2");
}

/// Of many levels a map is read, lines are not.
TEST(FactorsSection, ManyLevelsAreAMap) {
  GridCells cells;
  std::vector<Value> levels;
  for (int level = 1; level <= 9; ++level) levels.emplace_back(level);
  cells.grid({{"model.d_model", levels}, {"train.lr", {0.1, 0.2}}}, 3,
             [](const std::vector<std::size_t>& at, std::int64_t seed) {
               return 2 - 0.01 * static_cast<double>(at[0] + at[1]) +
                      0.001 * static_cast<double>(seed * seed + static_cast<std::int64_t>(at[0]));
             });
  const PageBlocks blocks = factors_of(cells);
  const PageChart* const chart = chart_named(blocks, "factors-0-interaction");
  ASSERT_NE(chart, nullptr);
  EXPECT_FALSE(checked_svg(chart->svg).of_class("sequential").empty());
}

/// A factor of which nothing can be said is no table of dashes.
TEST(FactorsSection, WhereThereIsNoContrastTheReasonStands) {
  GridCells cells = two_factor_grid();
  for (CellSummary& cell : cells.listing.cells) {
    for (auto& [leaf, value] : cell.overrides) {
      if (leaf != "train.lr" || plain_text(value) != "0.2") continue;
      cell.status = CellStatus::Diverged;
      cell.metrics.clear();
    }
  }
  const PageBlocks blocks = factors_of(cells);
  EXPECT_EQ(table_named(blocks, "final_loss.valid by train.lr"), nullptr);
  EXPECT_NE(table_named(blocks, "final_loss.valid by model.d_model"), nullptr);
  EXPECT_TRUE(contains(words_of(blocks), "No contrast: no seed has completed in both sides"));
  EXPECT_EQ(chart_named(blocks, "factors-0-interaction"), nullptr) << "of one line";
}

/// What compare prints below its tables.
TEST(FactorsSection, WhatWasLeftOutIsSaid) {
  GridCells cells = two_factor_grid();
  CellSummary& cell = cells.at("64,0.2", 4);
  cell.status = CellStatus::Failed;
  cell.metrics.clear();
  const std::string words = words_of(factors_of(cells));
  EXPECT_TRUE(contains(words, "64: left out: ")) << words;
  EXPECT_TRUE(contains(words, "No shares of variance of model.d_model × train.lr: "));
}

}  // namespace factors_section_test
}  // namespace depthgrid
