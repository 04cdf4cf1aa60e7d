#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/page/block_check.hpp"

namespace depthgrid {
namespace missing_section_test {

constexpr const char* kStore = "/home/canary/my results/half";

/// A grid of which one cell's result is damaged.
GridCells damaged(CellStatus status, const std::string& end) {
  GridCells cells({}, kStore);
  cells.grid(two_factors(), 5, two_factor_figure);
  CellSummary& cell = cells.listing.cells[8];
  cell.status = status;
  cell.steps = 20;
  cell.damage = std::string(kStore) + "/cells/07/070a74ac5678/result.h5: too short for a sealed " +
                "file (300 bytes); " + end;
  if (status != CellStatus::Completed) cell.metrics.clear();
  return cells;
}

PageBlocks section_of(const GridCells& cells) {
  return missing_section(page_data(cells.listing, {}, {}));
}

TEST(MissingSection, ADamagedResultIsTheReason) {
  const GridCells cells = damaged(CellStatus::Pending, "depthgrid run trains the cell again");
  const PageBlocks blocks = section_of(cells);
  const PageTable* const table = table_named(blocks, "cells without a result");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->table.rows.size(), 1U);
  EXPECT_EQ(
      table->table.rows[0].back(),
      "result.h5: too short for a sealed file (300 bytes); depthgrid run trains the cell again");
}

/// The packed file has its numbers: nothing is missing, and yet it is damaged.
TEST(MissingSection, DamagedFilesOfCompletedCellsAreNamed) {
  const GridCells cells =
      damaged(CellStatus::Completed, "the numbers are those of sweep.h5; depthgrid run " +
                                         std::string(kStore) + "/sweep-1.yaml trains the cell");
  const PageBlocks blocks = section_of(cells);
  const PageTable* const table = table_named(blocks, "completed cells with damaged files");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->table.rows.size(), 1U);
  EXPECT_EQ(table->table.rows[0].back(),
            "result.h5: too short for a sealed file (300 bytes); the numbers are those of "
            "sweep.h5; depthgrid run sweep-1.yaml trains the cell");
  EXPECT_TRUE(contains(words_of(blocks), "Of 1 completed cell,")) << words_of(blocks);
  GridCells sound = cells;
  sound.listing.cells[8].damage.clear();
  EXPECT_EQ(words_of(section_of(sound)), "Nothing: every cell has completed.\n");
}

TEST(MissingSection, WhyACellFailedStandsBesideItsDamageIfLogsMay) {
  GridCells cells = damaged(CellStatus::Failed, "depthgrid run trains the cell again");
  cells.listing.cells[8].problem = "worker ended";
  const PageBlocks without = section_of(cells);
  EXPECT_FALSE(contains(table_named(without, "cells without")->table.rows[0].back(), "worker"));
  EXPECT_TRUE(contains(words_of(without), "--include logs"));
  const PageBlocks with = missing_section(page_data(cells.listing, {}, {.logs = true}));
  EXPECT_TRUE(table_named(with, "cells without")
                  ->table.rows[0]
                  .back()
                  .starts_with("worker ended; result.h5: too short"));
}

TEST(MissingSection, CompareSaysTheDamageInItsJsonToo) {
  const GridCells cells = damaged(CellStatus::Pending, "depthgrid run trains the cell again");
  const nlohmann::json damages = answer(cells, {}, cells.rows()).json["damages"];
  ASSERT_EQ(damages.size(), 1U);
  EXPECT_EQ(damages[0]["cell"], cells.listing.cells[8].alias);
  EXPECT_EQ(damages[0]["status"], "pending");
  EXPECT_EQ(
      damages[0]["damage"],
      "result.h5: too short for a sealed file (300 bytes); depthgrid run trains the cell again");
  EXPECT_TRUE(answer_by(two_factor_grid(), {"arm"}).json["damages"].empty());
}

TEST(MissingSection, OfVeryManyCellsSomeAreListed) {
  GridCells cells;
  for (int seed = 0; seed < 205; ++seed) cells.add({}, seed, 2, "a").status = CellStatus::Pending;
  const PageBlocks blocks = section_of(cells);
  EXPECT_EQ(table_named(blocks, "cells without a result")->table.rows.size(), 200U);
  EXPECT_TRUE(contains(words_of(blocks), "And 5 more.")) << words_of(blocks);
}

}  // namespace missing_section_test
}  // namespace depthgrid
