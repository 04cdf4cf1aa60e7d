#include "sweeps/page/probe_sights.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "storage/columns/variables.hpp"
#include "sweeps/page/probe_pictures.hpp"
#include "tests/sweeps/page/probed_grid.hpp"

namespace depthgrid {
namespace probe_sights_test {

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

CellProfile line(const Texts& names, const Numbers& values, double step = 10) {
  CellProfile out;
  out.step = step;
  out.names = names;
  for (std::size_t i = 0; i < names.size(); ++i) out.at.push_back(std::stod(names[i]));
  out.lines = {""};
  out.values = values;
  return out;
}

TEST(SightOf, IsTheMeanAndTheRangeOverTheSeeds) {
  const ArmSight sight = sight_of(3, {line({"1", "2"}, {1, 4}), line({"1", "2"}, {3, 2}, 20)});
  EXPECT_EQ(sight.arm, 3U);
  EXPECT_EQ(sight.seeds, 2U);
  EXPECT_EQ(sight.at, (Numbers{1, 2}));
  EXPECT_EQ(sight.mean, (Numbers{2, 3}));
  EXPECT_EQ(sight.low, (Numbers{1, 2}));
  EXPECT_EQ(sight.high, (Numbers{3, 4}));
  EXPECT_EQ(sight.first_step, 10);
  EXPECT_EQ(sight.last_step, 20);
  EXPECT_EQ(sight.partial, 0U);
}

/// A mean over other seeds from place to place would be none of the arm's.
TEST(SightOf, LooksThatOnlySomeSeedsHaveAreLeftOutAndCounted) {
  const ArmSight sight =
      sight_of(0, {line({"0", "10", "20"}, {1, 2, 3}), line({"0", "20", "25"}, {1, 5, 9})});
  EXPECT_EQ(sight.names, (Texts{"0", "20"}));
  EXPECT_EQ(sight.mean, (Numbers{1, 4}));
  EXPECT_EQ(sight.partial, 2U);
}

TEST(SightOf, WhereASeedHasNoNumberThereIsAGap) {
  const ArmSight sight = sight_of(0, {line({"1", "2"}, {kNaN, 4}), line({"1", "2"}, {3, 2})});
  EXPECT_TRUE(std::isnan(sight.mean[0]));
  EXPECT_TRUE(std::isnan(sight.low[0]));
  EXPECT_EQ(sight.mean[1], 3);
}

TEST(SightOf, LinesAreMatchedByTheirNames) {
  CellProfile first = line({"1"}, {1, 2}), second = line({"1"}, {20, 10, 30});
  first.lines = {"q", "k"};
  second.lines = {"k", "q", "v"};
  const ArmSight sight = sight_of(0, {first, second});
  EXPECT_EQ(sight.lines, (Texts{"q", "k"}));
  EXPECT_EQ(sight.mean, (Numbers{5.5, 11}));
}

/// Number of the row of the table with this variable and form.
std::size_t picture_of(std::string_view variable, PictureForm form) {
  const auto pictures = probe_pictures();
  const auto at = std::ranges::find_if(pictures, [&](const ProbePicture& picture) {
    return picture.of.variable == variable && picture.form == form;
  });
  EXPECT_NE(at, pictures.end()) << variable;
  return static_cast<std::size_t>(at - pictures.begin());
}

ProbeSights sights_of(ProbedGrid& grid) {
  ComparisonQuery query;
  query.by = {"arm"};
  std::vector<std::size_t> rows(grid.listing().cells.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const Comparison arms = compare_cells(grid.listing(), rows, query);
  return probe_sights(grid.listing(), arms.effects.front().rows);
}

void add_gradients(ProbedCell& cell, std::size_t row) {
  const auto x = static_cast<double>(row);
  cell.axis("probe_step", {0, 100}).axis("depth", {1, 2});
  cell.numbers("gradient_norm_depth", {x, x + 1, x + 10, x + 20});
}

TEST(ProbeSights, ComeFromTheCompletedCellsOfEachArm) {
  ProbedGrid grid(2, 3, add_gradients);
  grid.listing().cells[2].status = CellStatus::Diverged;
  const ProbeSights sights = sights_of(grid);
  EXPECT_EQ(sights.arms, 2U);
  EXPECT_EQ(sights.arms_read, 2U);
  EXPECT_EQ(sights.unread_cells, 0U);
  const auto& last = sights.pictures[picture_of("gradient_norm_depth", PictureForm::Arms)];
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].seeds, 2U) << "the diverged one is none of them";
  EXPECT_EQ(last[0].last_step, 100);
  EXPECT_EQ(last[0].mean, (Numbers{10.5, 20.5}));
  EXPECT_EQ(last[1].mean, (Numbers{14, 24}));
  const auto& all = sights.pictures[picture_of("gradient_norm_depth", PictureForm::Panels)];
  EXPECT_EQ(all[1].lines, (Texts{"1", "2"}));
  EXPECT_EQ(all[1].mean, (Numbers{4, 14, 5, 24}));
  EXPECT_TRUE(sights.pictures[picture_of("gate_mean", PictureForm::Arms)].empty());
}

TEST(ProbeSights, ACellThatCannotBeReadIsLeftOut) {
  ProbedGrid grid(1, 3, add_gradients);
  std::filesystem::resize_file(grid.result_of(0), 600);
  std::filesystem::remove(grid.result_of(1));
  const ProbeSights sights = sights_of(grid);
  EXPECT_EQ(sights.pictures[picture_of("gradient_norm_depth", PictureForm::Arms)][0].seeds, 1U);
}

TEST(ProbeSights, AreReadOfABoundedNumberOfCells) {
  ProbedGrid grid(18, 1, add_gradients);
  const ProbeSights many = sights_of(grid);
  EXPECT_EQ(many.arms, 18U);
  EXPECT_EQ(many.arms_read, 16U);
  EXPECT_EQ(many.pictures[picture_of("gradient_norm_depth", PictureForm::Arms)].size(), 16U);
  ProbedGrid seeds(1, 22, add_gradients);
  const ProbeSights few = sights_of(seeds);
  EXPECT_EQ(few.unread_cells, 2U);
  EXPECT_EQ(few.pictures[picture_of("gradient_norm_depth", PictureForm::Arms)][0].seeds, 20U);
}

TEST(ProbeSights, MasksAreThoseOfTheFirstSeedOfAFewArms) {
  ProbedGrid grid(6, 2, [](ProbedCell& cell, std::size_t row) {
    if (row == 0) return;  // the first seed of the first arm has none
    cell.axis("probe_step", {5}).axis("layer", {0}).axis("sequence_sample", {0});
    cell.axis("mask_byte", {0});
    cell.numbers("routing_mask", {static_cast<double>(row)}).numbers("n_position", {8});
  });
  const ProbeSights sights = sights_of(grid);
  ASSERT_EQ(sights.masks.size(), 4U);
  EXPECT_EQ(sights.masks[0].row, 1U);
  EXPECT_EQ(sights.masks[1].row, 2U);
  EXPECT_EQ(sights.masks[3].arm, 3U);
  EXPECT_EQ(sights.masks[0].mask.positions, 8U);
  EXPECT_TRUE(sights.masks[0].tokens.empty());
}

/// A row with a typing error would never be seen on a page.
TEST(ProbePictures, AreOfVariablesAndAxesThatThereAre) {
  for (const ProbePicture& picture : probe_pictures()) {
    const Variable* const variable = find_variable(picture.of.variable);
    ASSERT_NE(variable, nullptr) << picture.of.variable;
    const std::vector<std::string> axes = axes_of(*variable);
    for (const std::string_view axis : {picture.of.axis, picture.of.by}) {
      if (axis.empty()) continue;
      EXPECT_NE(std::ranges::find(axes, axis), axes.end()) << picture.of.variable << " " << axis;
    }
    EXPECT_FALSE(picture.title.empty());
    const bool lines = !picture.of.by.empty();
    EXPECT_FALSE(lines && picture.form == PictureForm::Arms) << picture.title;
    EXPECT_FALSE(!lines && picture.form == PictureForm::Panels) << picture.title;
  }
}

}  // namespace probe_sights_test
}  // namespace depthgrid
