#include "sweeps/page/page_curves.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/report_page.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/evaluated_stores.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace page_curves_test {

using Numbers = std::vector<double>;

TEST(ArmCurve, CountsTheSeedsOfEveryStep) {
  const CellSeries whole{{0, 10, 20}, {3, 2, 1}, {}, ""};
  const CellSeries other{{0, 10}, {5, kNaN}, {}, ""};
  const ArmCurve curve = arm_curve({&whole, &other});
  EXPECT_EQ(curve.band.x, (Numbers{0, 10, 20}));
  EXPECT_EQ(curve.band.mean, (Numbers{4, 2, 1}));
  EXPECT_EQ(curve.band.high, (Numbers{5, 2, 1}));
  EXPECT_EQ(curve.n, (std::vector<std::size_t>{2, 1, 1}));
  EXPECT_EQ(curve.seeds, 2U);
}

TEST(PageCurves, AnArmOfTwoStoresIsALineForEach) {
  EvaluatedStores stores({"short", "long"});
  for (int seed = 0; seed < 3; ++seed) {
    stores.add(0, "gpt", seed, {0, 10}, {4, 3.0 + 0.01 * seed});
    stores.add(1, "gpt", seed, {0, 10, 20}, {4, 3.5 + 0.01 * seed, 2});
    stores.add(1, "tdt", seed, {0, 10, 20}, {4, 3.2 + 0.01 * seed, 2});
  }
  // One of seed 0 that counts already, without a file.
  stores.cells.add({}, 0, 1, "gpt").id = "00000000beef";
  stores.cells.listing.store_of_cell.push_back(0);
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_EQ(data.curves.lines.size(), 3U);
  EXPECT_EQ(data.curves.lines[0].band.label, "gpt (short)");
  EXPECT_EQ(data.curves.lines[0].band.x, (Numbers{0, 10}));
  EXPECT_EQ(data.curves.lines[1].band.label, "gpt (long)");
  EXPECT_EQ(data.curves.lines[1].n, (std::vector<std::size_t>{3, 3, 3}));
  EXPECT_EQ(data.curves.lines[2].band.label, "tdt") << "only one store has it";
  EXPECT_TRUE(contains(words_of(curves_section(data)), "is a line for each of them"));
  EXPECT_TRUE(contains(curves_json(data), "\"store\":\"short\""));
}

TEST(PageCurves, OfVeryManyArmsTheBestAndTheBaselineAreDrawnAndSaid) {
  EvaluatedStores stores({"grid"});
  for (int arm = 0; arm < 25; ++arm) {
    stores.add(0, fmt::format("arm {:02}", arm), 0, {0, 10}, {4, 3 - 0.01 * arm});
  }
  PageData data = page_data(stores.cells.listing, {}, {});
  std::vector<ComparedRow>& rows = data.by_arm.effects.front().rows;
  ASSERT_EQ(rows.size(), 25U);
  for (ComparedRow& row : rows) row.group.baseline = row.group.name == "arm 00";
  const PageBlocks blocks = curves_section(data);
  const PageChart* const chart = chart_named(blocks, "curves-bands");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(checked_svg(chart->svg).of_class("curve").size(), 12U);
  EXPECT_TRUE(contains(chart->svg, "arm 00")) << "the baseline, which is the worst";
  EXPECT_TRUE(contains(chart->svg, "arm 24"));
  EXPECT_TRUE(contains(chart->svg, "arm 14"));
  EXPECT_FALSE(contains(chart->svg, "arm 13"));
  const std::string choice =
      "12 of 25 arms: the best by final_loss.valid and the baseline; the numbers are of all.";
  EXPECT_EQ(chart->caption, choice);
  EXPECT_TRUE(contains(chart->alternative, choice));
  EXPECT_EQ(chart->numbers.rows.size(), 50U);
  data.by_arm.goal = "maximize";
  const PageBlocks highest = curves_section(data);
  EXPECT_TRUE(contains(chart_named(highest, "curves-bands")->svg, "arm 11"));
}

TEST(PageCurves, OfCellsWithOneSeedTheFirstCounts) {
  EvaluatedStores stores({"grid"});
  stores.add(0, "gpt", 0, {0, 10}, {4, 3});
  stores.add(0, "gpt", 0, {0, 10}, {4, 9});
  stores.add(0, "gpt", 1, {0}, {4});
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_EQ(data.curves.lines.size(), 1U);
  EXPECT_EQ(data.curves.lines[0].band.mean, (Numbers{4, 3}));
  EXPECT_EQ(data.curves.lines[0].n, (std::vector<std::size_t>{2, 1})) << "seeds, not cells";
  const PageBlocks blocks = curves_section(data);
  EXPECT_TRUE(contains(words_of(blocks), "Not all seeds have an evaluation at every step"));
  const PageChart* const chart = chart_named(blocks, "curves-bands");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->numbers.rows.at(1).back(), "1");
}

/// A cell that goes on has what its journals have; it is in no mean.
TEST(PageCurves, CellsThatHaveNotEndedHaveTheirCurvesSoFar) {
  EvaluatedStores stores({"grid"});
  stores.add(0, "gpt", 0, {5, 10}, {4, 3});
  CellSummary& open = stores.cells.add({}, 1, kNaN, "gpt");
  open.id = "0123456789ab";
  open.status = CellStatus::Running;
  open.attempts = 1;
  const auto folder = stores.store(0).cell_path(open.id);
  std::filesystem::create_directories(folder);
  write_attempt(folder, 0, 1, 0, 12, false);
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_EQ(data.curves.cells.size(), 2U);
  EXPECT_EQ(data.curves.cells[1].series.steps, (Numbers{5, 10}));
  EXPECT_EQ(data.curves.lines[0].n, (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(contains(words_of(curves_section(data)), "1 curve is of cells that have not ended"));
  EXPECT_TRUE(contains(curves_json(data), "\"status\":\"running\""));
}

/// The script computes means of the curves that it has; the picture of all has others.
TEST(PageCurves, OfASampleThePictureOfAllStays) {
  EvaluatedStores stores({"grid"});
  stores.add(0, "gpt", 0, {0, 10}, {4, 3});
  stores.add(0, "gpt", 1, {0, 10}, {4, 3.5});
  PageData data = page_data(stores.cells.listing, {}, {});
  EXPECT_TRUE(contains(curves_json(data), "\"grids\":[[0.0,10.0]]")) << curves_json(data);
  EXPECT_FALSE(contains(report_page(data), "data-stays>"));
  data.curves.cells.pop_back();
  EXPECT_TRUE(contains(report_page(data), "<div id=\"curves-static\" data-stays>"));
  EXPECT_TRUE(contains(words_of(curves_section(data)), "are of all 2 cells"));
}

}  // namespace page_curves_test
}  // namespace depthgrid
