#include "sweeps/page/probe_blocks.hpp"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/report_page.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/probed_grid.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace probe_blocks_test {

std::vector<PageChart> charts_of(const PageBlocks& blocks) {
  std::vector<PageChart> out;
  for (const PageBlock& block : blocks) {
    if (const auto* const chart = std::get_if<PageChart>(&block)) out.push_back(*chart);
  }
  return out;
}

PageData data_of(ProbedGrid& grid) {
  return page_data(grid.listing(), {}, {});
}

/// Two looks at two steps and two types of weight; the second seed is higher by .5.
void add_gates(ProbedCell& cell, std::size_t row) {
  cell.axis("probe_step", {0, 100}).axis("depth", {1, 2}).names("weight_type", {"q", "up"});
  std::vector<double> values;
  for (const double value : {0.0, 0.125, 0.25, 0.375, 1.0, 1.125, 1.25, 1.375}) {
    values.push_back(value + 0.5 * static_cast<double>(row % 2));
  }
  cell.numbers("gate_mean", values);
}

TEST(ProbeBlocks, ALinePerArmSaysWhatIsSeenInWordsAndNumbers) {
  ProbedGrid grid(2, 2, add_gates);
  const PageBlocks blocks = depth_section(data_of(grid));
  const std::vector<PageChart> charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 3U) << "the arms' lines, and a map for each";
  EXPECT_EQ(charts[0].title, "Mean of the gates");
  EXPECT_TRUE(contains(charts[0].alternative, "at the last measurement of the probe (step 100)"));
  EXPECT_TRUE(contains(charts[0].alternative, "2 seeds of each arm"));
  EXPECT_TRUE(contains(charts[0].alternative, "arm 1: from 1.312 at 1 to 1.562 at 2"));
  const std::vector<std::string> row = {"arm 0", "1", "1.3125", "1.0625", "1.5625", "2"};
  EXPECT_EQ(charts[0].numbers.rows.at(0), row);
  EXPECT_EQ(charts[0].numbers.rows.size(), 4U);
  EXPECT_EQ(checked_svg(charts[0].svg).fault, "");
  EXPECT_EQ(checked_svg(charts[0].svg).of_class("curve").size(), 2U);
  EXPECT_EQ(checked_svg(charts[0].svg).of_class("band").size(), 2U);
}

TEST(ProbeBlocks, AMapPerArmHasTheNumbersOfAllOnce) {
  ProbedGrid grid(6, 1, add_gates);
  const PageBlocks blocks = depth_section(data_of(grid));
  const std::vector<PageChart> charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 5U);
  EXPECT_EQ(charts[1].title, "Mean of the gates by type of weight: arm 0");
  EXPECT_TRUE(contains(charts[1].alternative, "arm 0: lowest 1 at q, 1, highest 1.375 at up, 2"));
  EXPECT_TRUE(charts[1].numbers.rows.empty());
  EXPECT_EQ(charts[4].numbers.rows.size(), 24U) << "also of the arms without a map";
  EXPECT_TRUE(contains(words_of(blocks), "Maps: the first 4 of 6 arms"));
  EXPECT_EQ(checked_svg(charts[1].svg).of_class("cell").size(), 4U);
}

TEST(ProbeBlocks, MapsOfOneBlockShowTheirArmAndHaveOneRangeOfColours) {
  ProbedGrid grid(2, 1, [](ProbedCell& cell, std::size_t row) {
    cell.axis("probe_step", {0}).axis("depth", {1, 2}).names("weight_type", {"q"});
    cell.numbers("gate_mean", row == 0 ? std::vector<double>{0, 1} : std::vector<double>{1, 4});
  });
  const PageData data = data_of(grid);
  const std::vector<PageChart> charts = charts_of(depth_section(data));
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_EQ(charts[1].caption, "arm 0");
  EXPECT_EQ(charts[2].caption, "arm 1");
  EXPECT_EQ(checked_svg(charts[1].svg).of_class("h2").size(), 2U) << "1 of 0 … 4, and the key";
  EXPECT_EQ(checked_svg(charts[2].svg).of_class("h2").size(), 2U);
  EXPECT_TRUE(contains(report_page(data), "<p class=\"chart-caption\">arm 1</p>"));
}

TEST(ProbeBlocks, DuringTrainingAPanelPerArmHasALinePerStep) {
  ProbedGrid grid(2, 2, add_gates);
  const PageBlocks blocks = training_section(data_of(grid));
  const std::vector<PageChart> charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_TRUE(contains(charts[0].alternative, "step 1 from 0.3125 at 0 to 1.312 at 100"));
  EXPECT_EQ(checked_svg(charts[0].svg).fault, "");
  EXPECT_EQ(checked_svg(charts[0].svg).of_class("curve").size(), 4U);
  EXPECT_EQ(charts[0].numbers.columns.at(1).title, "depth");
  EXPECT_EQ(charts[0].numbers.columns.at(2).title, "probe_step");
  EXPECT_EQ(charts[0].numbers.rows.size(), 8U);
  EXPECT_TRUE(contains(words_of(blocks), "[['gate_mean']]")) << "how to get the numbers";
}

TEST(ProbeBlocks, ManyStepsAndArmsAreAFewLinesAndPanelsWhichIsSaid) {
  ProbedGrid grid(14, 1, [](ProbedCell& cell, std::size_t) {
    std::vector<double> depths, values;
    for (int i = 0; i < 20; ++i) depths.push_back(i + 1);
    for (int i = 0; i < 40; ++i) values.push_back(i);
    cell.axis("probe_step", {0, 100}).axis("depth", depths).numbers("gradient_norm_depth", values);
  });
  const PageBlocks blocks = training_section(data_of(grid));
  const PageChart chart = charts_of(blocks).at(0);
  EXPECT_EQ(checked_svg(chart.svg).of_class("curve").size(), 12U * 6U);
  EXPECT_TRUE(contains(chart.svg, "step 1<"));
  EXPECT_TRUE(contains(chart.svg, "step 20<"));
  EXPECT_TRUE(contains(chart.alternative, "6 of 20 lines"));
  EXPECT_TRUE(contains(chart.alternative, "and 6 more"));
  EXPECT_EQ(chart.numbers.rows.size(), 14U * 40U);
  EXPECT_TRUE(contains(words_of(blocks), "Panels: the first 12 of 14 arms"));
}

/// Lines of one name look alike in every panel and stand in the key once.
TEST(ProbeBlocks, ArmsOfOtherDepthsShareTheirKey) {
  ProbedGrid grid(2, 1, [](ProbedCell& cell, std::size_t row) {
    const std::vector<double> depths =
        row == 0 ? std::vector<double>{1, 2, 3} : std::vector<double>{1, 3};
    cell.axis("probe_step", {0}).axis("depth", depths);
    cell.numbers("gradient_norm_depth", depths);
  });
  const PageChart chart = charts_of(training_section(data_of(grid))).at(0);
  EXPECT_EQ(checked_svg(chart.svg).of_class("sample").size(), 3U);
  EXPECT_EQ(occurrences(chart.svg, ">step 3</text>"), 1U);
}

TEST(ProbeBlocks, WhatIsLeftOutIsSaid) {
  ProbedGrid grid(17, 2, [](ProbedCell& cell, std::size_t row) {
    cell.axis("probe_step", row == 1 ? std::vector<double>{0, 5, 10} : std::vector<double>{0, 10});
    cell.names("token_class", {"all"});
    cell.numbers("trajectory_straightness",
                 row == 1 ? std::vector<double>{1, 1, 1} : std::vector<double>{1, 1});
  });
  const std::string texts = words_of(training_section(data_of(grid)));
  EXPECT_TRUE(contains(texts, "Left out, since not all seeds have them, are places of arm 0 (1)."));
  EXPECT_TRUE(contains(texts, "the first 16 of 17 arms"));
}

TEST(ProbeBlocks, WithoutProbesThereIsNoSection) {
  ProbedGrid grid(2, 2, [](ProbedCell&, std::size_t) {});
  const PageData data = data_of(grid);
  for (const auto section : {depth_section, training_section, routing_section, control_section}) {
    EXPECT_TRUE(section(data).empty());
  }
}

TEST(ProbeBlocks, TheControlSignalIsAMapAroundChance) {
  ProbedGrid grid(2, 1, [](ProbedCell& cell, std::size_t) {
    cell.names("control_axis", {"long", "</td>"}).names("control_axis_b", {"long", "</td>"});
    cell.names("steering_part", {"train", "heldout", "text"});
    cell.names("steering_signal", {"plus", "zero", "minus"});
    cell.numbers("control_auc", {0.75, 0.5, 0.25, 1}).numbers("control_label_rate", {0.5, 0.25});
    std::vector<double> mass;
    for (int i = 0; i < 18; ++i) mass.push_back(i / 18.0);
    cell.numbers("steering_positive_mass", mass);
  });
  const PageData data = data_of(grid);
  const std::vector<PageChart> charts = charts_of(control_section(data));
  ASSERT_EQ(charts.size(), 8U) << "areas, rates, masses of two kinds of prompts; two arms";
  EXPECT_EQ(checked_svg(charts[0].svg).of_class("diverging").size(), 1U);
  EXPECT_TRUE(contains(charts[0].alternative, "lowest 0.25 at </td>, long"));
  EXPECT_EQ(checked_svg(charts[0].svg).fault, "");
  EXPECT_EQ(charts[5].numbers.rows.at(0).at(3), "0") << "trained prompts";
  EXPECT_EQ(charts[7].numbers.rows.at(0).at(3), "0.16666666666666666") << "those held out";
  const std::string page = report_page(data);
  EXPECT_TRUE(contains(page, "at &lt;/td&gt;, long"));
  EXPECT_FALSE(contains(page, "at </td>, long"));
}

TEST(ProbeBlocks, NoFolderOfThisMachineIsInAPicture) {
  ProbedGrid grid(2, 2, add_gates, "path=/home/me/");
  const std::string page = report_page(data_of(grid));
  EXPECT_FALSE(contains(page, "/home/me"));
  EXPECT_TRUE(contains(page, "Mean of the gates by type of weight: path=…/0"));
}

}  // namespace probe_blocks_test
}  // namespace depthgrid
