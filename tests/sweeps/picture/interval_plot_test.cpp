#include "sweeps/picture/interval_plot.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace interval_plot_test {

IntervalPlotData three_rows() {
  return {.rows = {{.label = "gates off",
                    .mean = -0.004,
                    .interval = {.low = -0.006, .high = -0.002},
                    .simultaneous = {.low = -0.007, .high = -0.001},
                    .verdict = "differs",
                    .marker = MarkerShape::Square},
                   {.label = "depth 24",
                    .mean = 0.0001,
                    .interval = {.low = -0.0005, .high = 0.0007},
                    .verdict = "no effect",
                    .marker = MarkerShape::Circle},
                   {.label = "one pair", .mean = 0.002, .marker = MarkerShape::Diamond}},
          .margin = 0.001};
}

TEST(IntervalPlot, DrawsWhatIsKnownOfEachRow) {
  const CheckedSvg svg = checked_svg(interval_plot(three_rows(), some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("mean").size(), 3U);
  EXPECT_EQ(svg.of_class("interval").size(), 2U);
  EXPECT_EQ(svg.of_class("simultaneous").size(), 1U);
  EXPECT_EQ(svg.of_class("zero").size(), 1U);
  EXPECT_EQ(svg.of_class("margin").size(), 1U);
  EXPECT_NE(svg.content.find("differs"), std::string::npos);
}

TEST(IntervalPlot, TheMarginIsAroundZeroAndTheRowsKeepTheirOrder) {
  const CheckedSvg svg = checked_svg(interval_plot(three_rows(), some_chart_text()));
  const CheckedTag margin = svg.of_class("margin")[0];
  const double left = std::stod(margin.value_of("x"));
  const double middle = left + std::stod(margin.value_of("width")) / 2;
  EXPECT_NEAR(svg.numbers("zero", "x1")[0], middle, 0.02);
  const auto place = [&](const char* label) { return svg.content.find(label); };
  EXPECT_LT(place("gates off"), place("depth 24"));
  EXPECT_LT(place("depth 24"), place("one pair"));
  const std::vector<double> y = svg.numbers("hit", "y");
  EXPECT_LT(y[0], y[1]);
  EXPECT_LT(y[1], y[2]);
}

TEST(IntervalPlot, AVerdictHasAShapeAndNotOnlyAColour) {
  const CheckedSvg svg = checked_svg(interval_plot(three_rows(), some_chart_text()));
  const auto marks = svg.of_class("mean");
  EXPECT_EQ(marks[0].name, "path");
  EXPECT_EQ(marks[1].name, "circle");
  EXPECT_NE(occurrences(marks[0].value_of("d"), "L"), 0U);
  EXPECT_EQ(svg.of_class("s1").size(), 1U);  // of the square
}

TEST(IntervalPlot, NumbersAreInTheTooltipOfTheRow) {
  const std::string svg = interval_plot(three_rows(), some_chart_text());
  EXPECT_NE(svg.find("<title>gates off: -0.004, interval [-0.006, -0.002], simultaneous "
                     "[-0.007, -0.001], differs</title>"),
            std::string::npos);
}

TEST(IntervalPlot, ZeroIsInThePlotEvenFarFromTheData) {
  IntervalPlotData data;
  data.rows = {{.label = "a", .mean = 5}};
  const CheckedSvg svg = checked_svg(interval_plot(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("zero").size(), 1U);
  EXPECT_TRUE(svg.of_class("margin").empty());
}

TEST(IntervalPlot, ARowWithoutAMeanSaysSo) {
  IntervalPlotData data = three_rows();
  data.rows[1].mean = kNaN;
  data.rows[2].mean = std::numeric_limits<double>::infinity();
  const CheckedSvg svg = checked_svg(interval_plot(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("mean").size(), 1U);
  EXPECT_NE(svg.content.find("–"), std::string::npos);
  EXPECT_NE(svg.content.find("∞"), std::string::npos);
  for (IntervalRow& row : data.rows) row.mean = kNaN;
  EXPECT_NE(interval_plot(data, some_chart_text()).find("no data"), std::string::npos);
}

TEST(IntervalPlot, LimitsThatCannotBeAreErrors) {
  IntervalPlotData data = three_rows();
  data.margin = 0;
  EXPECT_THROW(interval_plot(data, some_chart_text()), Error);
  data = three_rows();
  data.rows[0].interval = {.low = 1, .high = 0};
  EXPECT_THROW(interval_plot(data, some_chart_text()), Error);
}

}  // namespace interval_plot_test
}  // namespace depthgrid
