#include "sweeps/picture/interaction_plot.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace interaction_plot_test {

InteractionPlotData two_by_three() {
  return {.a_levels = {"gates off", "gates on"},
          .b_levels = {"6", "12", "24"},
          .means = {3, 2, 1, 3, 2.5, 2},
          .intervals = {{2, 4}, {1, 3}, {0, 2}, {2, 4}, {2, 3}, {1, 3}}};
}

TEST(InteractionPlot, EveryLevelHasALineWithItsMeans) {
  const CheckedSvg svg = checked_svg(interaction_plot(two_by_three(), some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("curve").size(), 2U);
  EXPECT_EQ(svg.of_class("mean").size(), 6U);
  EXPECT_EQ(svg.of_class("interval").size(), 6U);
  EXPECT_EQ(svg.of_class("leader").size(), 2U);
  EXPECT_NE(svg.of_class("curve")[0].value_of("stroke-dasharray"),
            svg.of_class("curve")[1].value_of("stroke-dasharray"));
  EXPECT_NE(svg.content.find("gates on, 12: 2.5 [2, 3]"), std::string::npos);
}

TEST(InteractionPlot, LinesStandBesideEachOther) {
  InteractionPlotData data = two_by_three();
  data.a_levels = {"a", "b"};
  const CheckedSvg svg = checked_svg(interaction_plot(data, some_chart_text()));
  const std::string first = svg.of_class("curve")[0].value_of("d");
  const std::string second = svg.of_class("curve")[1].value_of("d");
  EXPECT_NE(first.substr(0, first.find(' ')), second.substr(0, second.find(' ')));
}

TEST(InteractionPlot, AMissingCellIsAGap) {
  InteractionPlotData data = two_by_three();
  data.means[1] = kNaN;
  data.means[5] = kNaN;
  data.intervals.clear();
  const CheckedSvg svg = checked_svg(interaction_plot(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("mean").size(), 4U);
  EXPECT_TRUE(svg.of_class("interval").empty());
  EXPECT_EQ(occurrences(svg.of_class("curve")[0].value_of("d"), "L"), 0U);
  EXPECT_EQ(occurrences(svg.of_class("curve")[1].value_of("d"), "L"), 1U);
  EXPECT_EQ(svg.of_class("leader").size(), 2U);
}

TEST(InteractionPlot, SizesHaveToAgree) {
  InteractionPlotData data = two_by_three();
  data.means.pop_back();
  EXPECT_THROW(interaction_plot(data, some_chart_text()), Error);
  data = two_by_three();
  data.intervals.pop_back();
  EXPECT_THROW(interaction_plot(data, some_chart_text()), Error);
}

}  // namespace interaction_plot_test
}  // namespace depthgrid
