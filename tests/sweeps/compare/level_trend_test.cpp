#include "sweeps/compare/level_trend.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sweeps/compare/compare_answer.hpp"

namespace depthgrid {
namespace level_trend_test {

constexpr const char* kLine = "trend over model.d_model";

double evidence_slope(const CompareAnswer& of) {
  return of.json["effects"][0]["trend"]["slope"]["mean"];
}

/// Without the cells of one level of one factor at a level of the other.
GridCells without(int width, double rate) {
  GridCells cells;
  for (const CellSummary& cell : two_factor_grid().listing.cells) {
    const bool left_out = *find_key(cell.overrides, "model.d_model") == Value(width) &&
                          *find_key(cell.overrides, "train.lr") == Value(rate);
    if (!left_out) cells.add(cell.overrides, cell.seed, cell.metrics.at("final_loss.valid"));
  }
  return cells;
}

TEST(LevelTrend, NamesTheCombinationsThatItIsOverWhereSomeAreLeftOut) {
  const CompareAnswer all = answer_by(two_factor_grid(), {"d_model"});
  EXPECT_FALSE(has(line_of(all.text, kLine), "over the combinations")) << all.text;
  EXPECT_TRUE(all.json["effects"][0]["trend"]["over"].empty());
  const GridCells cells = without(32, 0.1);
  ASSERT_EQ(cells.listing.cells.size(), 25U);
  const CompareAnswer some = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(some.text, "; over the combinations that all levels have: train.lr = 0.2\n"))
      << some.text;
  EXPECT_EQ(some.json["effects"][0]["trend"]["over"], nlohmann::json({"train.lr = 0.2"}));
  // That of the cells at that rate alone.
  GridCells alone;
  for (const CellSummary& cell : cells.listing.cells) {
    if (*find_key(cell.overrides, "train.lr") == Value(0.2)) {
      alone.add(cell.overrides, cell.seed, cell.metrics.at("final_loss.valid"));
    }
  }
  EXPECT_EQ(evidence_slope(some), evidence_slope(answer_by(alone, {"d_model"})));
}

TEST(LevelTrend, AMissingSeedLeavesNoCombinationOut) {
  GridCells cells = two_factor_grid();
  cells.at("32,0.1", 3).status = CellStatus::Failed;
  EXPECT_FALSE(has(answer_by(cells, {"d_model"}).text, "over the combinations"));
}

}  // namespace level_trend_test
}  // namespace depthgrid
