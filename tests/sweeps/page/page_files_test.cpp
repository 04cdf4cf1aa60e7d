#include "sweeps/page/page_files.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sweeps/compare/grid_cells.hpp"
#include "tests/sweeps/page/probed_grid.hpp"

namespace depthgrid {
namespace page_files_test {

/// A sweep with canaries where a store may have a path, a host or a user.
GridCells canaries() {
  GridCells cells({}, "/home/canary/results/grid");
  cells.grid(two_factors(), 5, two_factor_figure);
  cells.listing.description = "does it matter on /home/canary/data.txt?";
  for (CellSummary& cell : cells.listing.cells) {
    cell.arm += ",data=/home/canary/text.txt";
    cell.parameters = 1000 + static_cast<std::int64_t>(cell.arm.size());
    cell.metrics["cost_wall_time"] = 2;
  }
  cells.listing.cells[3].status = CellStatus::Failed;
  cells.listing.cells[3].problem = "canary on host canary";
  return cells;
}

std::vector<PagePart> parts() {
  return page_parts(page_data(canaries().listing, {}, {}));
}

std::map<std::string, std::string> files_of(PageFormat format) {
  std::map<std::string, std::string> out;
  for (const PageFile& file : page_files(parts(), "grid", format)) {
    EXPECT_TRUE(out.emplace(file.name, file.content).second) << file.name << " twice";
  }
  return out;
}

TEST(PageFiles, EveryPictureHasItsNumbers) {
  std::size_t charts = 0;
  const auto files = files_of(PageFormat::Svg);
  for (const PagePart& part : parts()) {
    for (const PageBlock& block : part.blocks) {
      const auto* const chart = std::get_if<PageChart>(&block);
      if (chart == nullptr) continue;
      ++charts;
      ASSERT_TRUE(files.contains(chart->id + ".svg")) << chart->id;
      ASSERT_TRUE(files.contains(chart->id + ".csv")) << chart->id;
      EXPECT_FALSE(chart->alternative.empty()) << chart->id;
      EXPECT_TRUE(files.at(chart->id + ".svg").starts_with("<?xml ")) << chart->id;
      const std::string& csv = files.at(chart->id + ".csv");
      EXPECT_GT(std::ranges::count(csv, '\n'), 1) << chart->id;
    }
  }
  EXPECT_GE(charts, 4U);
}

TEST(PageFiles, TextsLinkToFilesThatAreThere) {
  const auto files = files_of(PageFormat::Markdown);
  const std::string& text = files.at("report.md");
  std::set<std::string> linked;
  for (std::size_t at = text.find("]("); at != text.npos; at = text.find("](", at + 1)) {
    linked.insert(text.substr(at + 2, text.find(')', at) - at - 2));
  }
  for (const std::string& name : linked) EXPECT_TRUE(files.contains(name)) << name;
  EXPECT_EQ(linked.size() + 1, files.size()) << "and none is without a link";
  EXPECT_TRUE(files_of(PageFormat::Latex).contains("report.tex"));
  EXPECT_FALSE(files_of(PageFormat::Svg).contains("report.md"));
}

/// Of several pictures that have their numbers once, each leads to them.
TEST(PageFiles, PicturesOfOneKindShareTheirNumbers) {
  ProbedGrid grid(2, 2, [](ProbedCell& cell, std::size_t) {
    cell.axis("probe_step", {0}).axis("depth", {1, 2}).names("weight_type", {"q", "up"});
    cell.numbers("gate_mean", {0.1, 0.2, 0.3, 0.4});
  });
  std::size_t shared = 0;
  const std::vector<PagePart> all = page_parts(page_data(grid.listing(), {}, {}));
  std::set<std::string> files;
  for (const PageFile& file : page_files(all, "grid", PageFormat::Svg)) files.insert(file.name);
  for (const PagePart& part : all) {
    for (const PageBlock& block : part.blocks) {
      const auto* const chart = std::get_if<PageChart>(&block);
      if (chart == nullptr || !chart->numbers.rows.empty()) continue;
      ++shared;
      EXPECT_TRUE(files.contains(chart->numbers_with + ".csv")) << chart->id;
    }
  }
  EXPECT_GT(shared, 0U);
}

TEST(PageFiles, NoFileNamesAUserAHostOrAPath) {
  for (const PageFormat format : {PageFormat::Markdown, PageFormat::Latex}) {
    for (const auto& [name, content] : files_of(format)) {
      EXPECT_EQ(content.find("canary"), content.npos) << name;
      EXPECT_EQ(content.find("/home"), content.npos) << name;
    }
  }
}

TEST(PageFiles, TheNumbersOfATableKeepTheirDigits) {
  const Table exact{{{"arm"}, {"x"}}, {{"a", "1.23456789"}, {"/srv/data/b", "2"}}};
  std::vector<PagePart> part(1);
  part[0].blocks = {PageTable{"x", {{{"arm"}, {"x"}}, {{"a", "1.23"}}}, true, exact, "t"}};
  const auto files = page_files(part, "grid", PageFormat::Svg);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "t.csv");
  EXPECT_EQ(files[0].content, "arm,x\na,1.23456789\n…/b,2\n");
}

}  // namespace page_files_test
}  // namespace depthgrid
