#include "sweeps/picture/plot_frame.hpp"

#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace plot_frame_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr PlotArea kArea = {.left = 100, .top = 20, .right = 500, .bottom = 220};

std::string drawn(const std::function<void(SvgWriter&)>& draw) {
  SvgWriter svg(some_chart_text(), kChartWidth, 300);
  draw(svg);
  return svg.finish();
}

ChartAxis axis_to(double high) {
  return chart_axis({.low = 0, .high = high}, AxisScale::Linear, kArea.left, kArea.right, 60);
}

std::string interval_path(const ChartInterval& interval, const IntervalForm& form = {}) {
  const std::string svg =
      drawn([&](SvgWriter& out) { draw_interval(out, axis_to(10), interval, 50, form, "a"); });
  const auto found = checked_svg(svg).of_class("interval");
  return found.empty() ? "" : found[0].value_of("d");
}

TEST(PlotFrame, AnIntervalHasCapsAtItsLimits) {
  EXPECT_EQ(interval_path({.low = 2.5, .high = 5}),
            "M200 50 L300 50 M200 46 L200 54 M300 46 L300 54");
  EXPECT_EQ(
      interval_path({.low = 2.5, .high = 5}, {.direction = IntervalDirection::Vertical, .cap = 2}),
      "M50 200 L50 300 M48 200 L52 200 M48 300 L52 300");
}

TEST(PlotFrame, AnInfiniteLimitRunsToTheEdgeWithoutACap) {
  EXPECT_EQ(interval_path({.low = 2.5, .high = kInfinity}), "M200 50 L500 50 M200 46 L200 54");
  EXPECT_EQ(interval_path({.low = -kInfinity, .high = kInfinity}), "M100 50 L500 50");
}

TEST(PlotFrame, AnUnknownLimitIsNotDrawn) {
  EXPECT_EQ(interval_path({}), "");
  EXPECT_EQ(interval_path({.low = 1, .high = kNaN}), "");
}

TEST(PlotFrame, ATurnedIntervalIsAnErrorWithTheNameOfItsRow) {
  try {
    drawn([](SvgWriter& out) {
      draw_interval(out, axis_to(10), {.low = 2, .high = 1}, 50, {}, "gates off");
    });
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("gates off"), std::string::npos);
  }
}

TEST(PlotFrame, TicksStandWhereTheirValuesAre) {
  const std::string svg =
      drawn([](SvgWriter& out) { draw_x_axis(out, kArea, axis_to(10), "loss"); });
  const CheckedSvg checked = checked_svg(svg);
  EXPECT_EQ(checked.fault, "");
  EXPECT_EQ(checked.numbers("grid", "x1"), (std::vector<double>{100, 180, 260, 340, 420, 500}));
  EXPECT_EQ(checked.of_class("tick").size(), 6U);
  EXPECT_NE(checked.content.find("loss"), std::string::npos);
}

TEST(PlotFrame, LabelsOfTicksThatWouldTouchAreLeftOut) {
  const PlotArea narrow = {.left = 100, .top = 20, .right = 180, .bottom = 220};
  ChartAxis x = axis_to(100'000);
  x.last = 180;
  ASSERT_EQ(x.ticks.size(), 6U);
  const CheckedSvg checked =
      checked_svg(drawn([&](SvgWriter& out) { draw_x_axis(out, narrow, x, ""); }));
  const std::vector<double> places = checked.numbers("tick", "x");
  EXPECT_EQ(checked.of_class("grid").size(), 6U);
  ASSERT_GE(places.size(), 1U);
  EXPECT_LT(places.size(), 4U);
}

TEST(PlotFrame, ALabelThatIsCutIsWholeOnHovering) {
  const std::string svg = drawn([](SvgWriter& out) {
    draw_label(out, 1, 2, "a label that is far too long", {.space = 80});
    draw_label(out, 1, 2, "short", {.space = 80});
  });
  EXPECT_EQ(occurrences(svg, "<title>a label that is far too long</title>"), 1U);
  EXPECT_EQ(occurrences(svg, "…"), 1U);
  EXPECT_EQ(occurrences(svg, ">short</text>"), 1U);
}

TEST(PlotFrame, ZeroHasALineIfItIsInThePlot) {
  const auto zeros = [](double low, double high, AxisScale scale) {
    const ChartAxis x = chart_axis({.low = low, .high = high}, scale, 100, 500, 70);
    return checked_svg(drawn([&](SvgWriter& out) { draw_zero_x(out, kArea, x); }))
        .numbers("zero", "x1");
  };
  EXPECT_EQ(zeros(-1, 1, AxisScale::Linear), std::vector<double>{300});
  EXPECT_EQ(zeros(0, 1, AxisScale::Linear), std::vector<double>{100});
  EXPECT_TRUE(zeros(1, 2, AxisScale::Linear).empty());
  EXPECT_TRUE(zeros(1, 2, AxisScale::Log).empty());
}

TEST(PlotFrame, OmissionsAreCounted) {
  EXPECT_EQ(omission_note(0), "");
  EXPECT_NE(omission_note(1), omission_note(2));
  EXPECT_NE(omission_note(12).find("12"), std::string::npos);
}

TEST(PlotFrame, AChartWithoutDataSaysSo) {
  const CheckedSvg checked = checked_svg(chart_without_data(some_chart_text()));
  EXPECT_EQ(checked.fault, "");
  EXPECT_NE(checked.content.find("no data"), std::string::npos);
}

}  // namespace plot_frame_test
}  // namespace depthgrid
