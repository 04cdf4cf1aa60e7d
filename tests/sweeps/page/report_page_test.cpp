#include "sweeps/page/report_page.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"
#include "tests/sweeps/page/block_check.hpp"

namespace depthgrid {
namespace report_page_test {

PageData data_of(const GridCells& cells) {
  return page_data(cells.listing, {}, {});
}

GridCells grid() {
  GridCells cells;
  for (const int width : {16, 32, 64}) {
    for (int seed = 0; seed < 5; ++seed) {
      cells.add({{"model.d_model", width}}, seed, 2 + 0.01 * seed - 0.001 * width * (1 + seed % 2));
    }
  }
  return cells;
}

TEST(ReportPage, SaysTheAnswerFirstAndOfWhatItIs) {
  const std::string page = report_page(data_of(grid()));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_TRUE(contains(page, "<h2 id=\"answer-title\">The answer</h2>"));
  EXPECT_LT(page.find("id=\"answer\""), page.find("id=\"factors\""));
  EXPECT_TRUE(contains(page, "is better than"));
  EXPECT_TRUE(contains(page, "model.d_model"));
  EXPECT_TRUE(contains(page, "<code>depthgrid compare"));
  EXPECT_EQ(page, report_page(data_of(grid()))) << "the same store, the same bytes";
}

TEST(ReportPage, TheBaselineIsNamedInThePictureOfItsSeeds) {
  GridCells cells = grid();
  cells.listing.baseline[0] = true;
  const PageBlocks blocks = answer_section(data_of(cells));
  const PageChart* const means = chart_named(blocks, "answer-means");
  ASSERT_NE(means, nullptr);
  EXPECT_TRUE(contains(means->svg, " (baseline)</text>"));
  EXPECT_EQ(means->svg.find(" (baseline)</text>"), means->svg.rfind(" (baseline)</text>"));
  EXPECT_FALSE(contains(means->numbers.rows.at(0).at(0), "baseline"));
}

/// Each picture has an id of its own, a title and a description.
TEST(ReportPage, PicturesHaveIdsOfTheirOwn) {
  const std::string page = report_page(data_of(grid()));
  std::set<std::string> ids;
  std::size_t n = 0;
  for (std::size_t at = page.find(" id=\""); at != page.npos; at = page.find(" id=\"", at + 1)) {
    const std::size_t begin = at + 5;
    ids.insert(page.substr(begin, page.find('"', begin) - begin));
    ++n;
  }
  EXPECT_EQ(ids.size(), n);
  EXPECT_GT(n, 10U);
}

TEST(ReportPage, WithoutAVerdictItSaysWhy) {
  GridCells one;
  for (const int width : {16, 32}) one.add({{"model.d_model", width}}, 0, 2 - 0.01 * width);
  one.listing.baseline[0] = true;
  const std::string page = report_page(data_of(one));
  EXPECT_TRUE(contains(page, "No verdict:"));
  EXPECT_TRUE(contains(page, "one seed says nothing of the spread"));
  EXPECT_FALSE(contains(page, "is better than"));
  GridCells none = grid();
  for (CellSummary& cell : none.listing.cells) {
    cell.status = CellStatus::Diverged;
    cell.metrics.clear();
  }
  const std::string diverged = report_page(data_of(none));
  EXPECT_TRUE(contains(diverged, "no cell has completed: 15 diverged"));
  EXPECT_TRUE(contains(diverged, "Not in any mean: 15 diverged."));
}

TEST(ReportPage, LogsAreShownOnlyIfAskedFor) {
  GridCells cells = grid();
  cells.listing.cells[3].status = CellStatus::Failed;
  cells.listing.cells[3].problem = "canary in /home/me/x.log";
  EXPECT_FALSE(contains(report_page(data_of(cells)), "canary"));
  const std::string page = report_page(page_data(cells.listing, {}, {.logs = true}));
  EXPECT_TRUE(contains(page, "canary in …/x.log")) << "but no folder of this machine";
  EXPECT_FALSE(contains(page, "/home/me"));
}

TEST(ReportPage, NamesOfAStoreAreText) {
  GridCells cells = grid();
  cells.listing.sweep = "</title><script>alert(1)</script>";
  cells.listing.description = "\"><img src=x>";
  cells.listing.cells[4].tag = "<b>tag</b>";
  const std::string page = report_page(data_of(cells));
  for (const char* markup : {"<script>alert", "<img", "<b>"}) EXPECT_FALSE(contains(page, markup));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(1)"));
}

TEST(ReportPage, SignsOfProbabilitiesAreEscaped) {
  GridCells cells;
  for (int seed = 0; seed < 8; ++seed) {
    cells.add({}, seed, 2 + 0.1 * seed, "base");
    cells.add({}, seed, 1 + 0.1 * seed + 1e-6 * (seed % 3), "lower");
  }
  cells.baseline("base");
  const std::string page = report_page(data_of(cells));
  EXPECT_TRUE(contains(page, "Holm p &lt;.0001"));
  EXPECT_FALSE(contains(page, "<.0001"));
}

/// A cell that diverged says so in numbers, which are no text of a log.
TEST(ReportPage, WhyACellDivergedNeedsNoLogs) {
  GridCells cells = grid();
  CellSummary& cell = cells.listing.cells[4];
  cell.status = CellStatus::Diverged;
  cell.step = 17;
  cell.metrics = {{"train_loss", 123456.5}};
  const std::string page = report_page(data_of(cells));
  EXPECT_TRUE(contains(page, "diverged at step 17, training loss 123456"));
  EXPECT_FALSE(contains(page, "--include logs")) << "nothing is kept back";
  cells.listing.cells[3].status = CellStatus::Failed;
  cells.listing.cells[3].problem = "canary";
  EXPECT_TRUE(contains(report_page(data_of(cells)), "--include logs shows them here"));
}

TEST(ReportPage, TheAnswerIsASentenceAheadOfItsPictures) {
  GridCells cells = grid();
  cells.baseline(cells.listing.cells.front().arm);
  const std::string page = report_page(data_of(cells));
  const std::size_t answer = page.find("<p class=\"answer\">");
  ASSERT_NE(answer, page.npos);
  EXPECT_LT(answer, page.find("<svg"));
  EXPECT_TRUE(contains(page, " differs from "));
}

TEST(ReportPage, WhatDoesNotMatterHasItsNumber) {
  PageQuery query;
  query.comparison.margin = 0.125;
  const std::string page = report_page(page_data(grid().listing, query, {}));
  EXPECT_TRUE(contains(page, "A difference within δ = ± 0.125 nat does not matter."));
  EXPECT_TRUE(contains(page, "--margin 0.125</code>"));
}

TEST(ReportPage, EverySectionIsInTheTableOnce) {
  std::set<std::string_view> ids;
  for (const PageSection& section : page_sections()) ids.insert(section.id);
  EXPECT_EQ(ids.size(), page_sections().size());
}

}  // namespace report_page_test
}  // namespace depthgrid
