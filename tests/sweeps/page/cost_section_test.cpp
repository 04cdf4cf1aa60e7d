#include <string>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/evaluated_stores.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace cost_section_test {

/// Three arms, of which each costs more and has a lower loss. @param device  of the last one.
void fill(EvaluatedStores& stores, const std::string& device) {
  int number = 0;
  for (const char* arm : {"a", "b", "c"}) {
    for (int seed = 0; seed < 3; ++seed) {
      CellSummary& cell =
          stores.add(0, arm, seed, {0, 10}, {4, 3.0 - 0.1 * number + 0.0123456789 * seed},
                     number == 2 ? device : "CPU");
      cell.parameters = 1000 * (number + 1);
      cell.metrics["cost_wall_time"] = 1 + number;
    }
    ++number;
  }
}

std::size_t fronts(const PageBlocks& blocks, const char* id) {
  const PageChart* const chart = chart_named(blocks, id);
  return chart == nullptr ? 99 : checked_svg(chart->svg).of_class("front").size();
}

TEST(CostSection, AFrontIsDrawnOverWhatCanBeCompared) {
  EvaluatedStores alike({"grid"}), apart({"grid"});
  fill(alike, "CPU");
  fill(apart, "GPU");
  const PageBlocks same = cost_section(page_data(alike.cells.listing, {}, {}));
  EXPECT_EQ(fronts(same, "cost-0"), 1U);
  EXPECT_EQ(fronts(same, "cost-2"), 1U);
  EXPECT_FALSE(contains(words_of(same), "No front"));
  const PageBlocks other = cost_section(page_data(apart.cells.listing, {}, {}));
  EXPECT_EQ(fronts(other, "cost-0"), 1U) << "parameters are the same anywhere";
  EXPECT_EQ(fronts(other, "cost-2"), 0U);
  EXPECT_TRUE(contains(words_of(other), "No front is drawn over seconds"));
  EXPECT_TRUE(contains(words_of(other), "c,s0 on GPU, 1 cell")) << words_of(other);
}

TEST(CostSection, ArmsThatAreRefusedAreNotDrawn) {
  EvaluatedStores stores({"grid"});
  fill(stores, "CPU");
  stores.cells.baseline("a");
  for (CellSummary& cell : stores.cells.listing.cells) cell.code = cell.arm == "c" ? "2" : "1";
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_TRUE(evidence_for(data.by_arm.effects.front(), "c").pairs.refused);
  const PageBlocks blocks = cost_section(data);
  const PageChart* const chart = chart_named(blocks, "cost-0");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(checked_svg(chart->svg).of_class("point").size(), 2U);
  EXPECT_TRUE(contains(words_of(blocks), "Not drawn")) << words_of(blocks);
}

TEST(CostSection, NumbersKeepAllDigits) {
  EvaluatedStores stores({"grid"});
  fill(stores, "CPU");
  const PageData data = page_data(stores.cells.listing, {}, {});
  const PageBlocks blocks = cost_section(data);
  const PageTable* const table = table_named(blocks, "loss and costs");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(std::stod(table->exact.rows.at(0).at(1)),
            data.by_arm.effects.front().rows.at(0).all.mean);
  EXPECT_LT(table->table.rows.at(0).at(1).size(), table->exact.rows.at(0).at(1).size());
}

}  // namespace cost_section_test
}  // namespace depthgrid
