#include "sweeps/page/chosen_arms.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/probed_grid.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace chosen_arms_test {

/// Each arm is better than the one before it; the first is the baseline.
std::vector<ComparedRow> rows_of(std::size_t arms) {
  std::vector<ComparedRow> out(arms);
  for (std::size_t i = 0; i < arms; ++i) {
    out[i].all = {.n = 3, .mean = -static_cast<double>(i), .sd = 1};
    out[i].group.baseline = i == 0;
  }
  return out;
}

std::vector<std::size_t> chosen_of(const std::vector<ComparedRow>& rows, bool maximize) {
  std::vector<const ComparedRow*> arms;
  for (const ComparedRow& row : rows) arms.push_back(&row);
  return chosen_arms(arms, maximize);
}

TEST(ChosenArms, OfManyTheBaselineAndTheBest) {
  EXPECT_EQ(chosen_of(rows_of(24), false).size(), 24U);
  std::vector<ComparedRow> rows = rows_of(25);
  rows[24].all = {};  // without a number
  EXPECT_EQ(chosen_of(rows, false),
            (std::vector<std::size_t>{0, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(chosen_of(rows, true),
            (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(ChosenArms, WhatIsLeftOutIsSaid) {
  EXPECT_EQ(chosen_arms_text(9, 9, "arms", "loss", true), "");
  EXPECT_EQ(chosen_arms_text(12, 30, "lines", "loss", false),
            "12 of 30 lines: the best by loss; the numbers are of all.");
}

/// What a page of very many arms draws of them; the numbers are of all.
TEST(ChosenArms, APageOfManyArmsDrawsAFewOfThem) {
  ProbedGrid grid(30, 3, [](ProbedCell& cell, std::size_t) {
    cell.axis("probe_step", {0, 100}).axis("depth", {1, 2});
    cell.numbers("gradient_norm_depth", {1, 2, 3, 4});
  });
  const PageData data = page_data(grid.listing(), {}, {});
  const PageBlocks answer = answer_section(data);
  const PageChart* const means = chart_named(answer, "answer-means");
  ASSERT_NE(means, nullptr);
  EXPECT_EQ(checked_svg(means->svg).of_class("dots").size(), 12U);
  EXPECT_TRUE(contains(means->svg, "arm 29") && contains(means->svg, "arm 18"));
  EXPECT_FALSE(contains(means->svg, "arm 17"));
  EXPECT_EQ(means->caption, "12 of 30 arms: the best by final_loss.valid; the numbers are of all.");
  EXPECT_TRUE(contains(means->alternative, means->caption));
  EXPECT_EQ(means->numbers.rows.size(), 90U);
  EXPECT_TRUE(contains(words_of(training_section(data)), "Panels: the first 4 of 16 arms"))
      << words_of(training_section(data));
  ProbedGrid few(24, 1, [](ProbedCell& cell, std::size_t) { cell.axis("depth", {1}); });
  const PageBlocks all = answer_section(page_data(few.listing(), {}, {}));
  EXPECT_EQ(checked_svg(chart_named(all, "answer-means")->svg).of_class("dots").size(), 24U);
  EXPECT_EQ(chart_named(all, "answer-means")->caption, "");
}

}  // namespace chosen_arms_test
}  // namespace depthgrid
