#include "sweeps/picture/scatter_plot.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace scatter_plot_test {

std::vector<ScatterPoint> points(const std::vector<std::pair<double, double>>& places) {
  std::vector<ScatterPoint> out;
  for (const auto& [x, y] : places)
    out.push_back({.label = "p" + std::to_string(out.size()), .x = x, .y = y});
  return out;
}

using Indices = std::vector<std::size_t>;

TEST(ScatterPlot, TheFrontIsWhatNoOtherPointDominates) {
  EXPECT_EQ(pareto_front(points({{1, 5}, {2, 3}, {3, 4}, {4, 1}, {2, 6}})), (Indices{0, 1, 3}));
  EXPECT_EQ(pareto_front(points({{3, 1}, {2, 2}, {1, 3}})), (Indices{2, 1, 0}));
  EXPECT_EQ(pareto_front(points({{1, 1}, {1, 1}, {1, 2}, {2, 1}})), (Indices{0, 1}));
  EXPECT_EQ(pareto_front(points({{kNaN, 0}, {1, kNaN}, {2, 2}})), Indices{2});
  EXPECT_EQ(pareto_front({}), Indices{});
}

TEST(ScatterPlot, TheFrontIsDrawnAsSteps) {
  ScatterPlotData data;
  data.points = points({{1, 5}, {2, 3}, {3, 4}, {4, 1}});
  EXPECT_TRUE(checked_svg(scatter_plot(data, some_chart_text())).of_class("front").empty());
  data.front = true;
  const CheckedSvg svg = checked_svg(scatter_plot(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  ASSERT_EQ(svg.of_class("front").size(), 1U);
  EXPECT_EQ(occurrences(svg.of_class("front")[0].value_of("d"), "L"), 6U);  // two a point
  const std::string start = "M" + svg.of_class("point")[0].value_of("cx") + " ";
  EXPECT_TRUE(svg.of_class("front")[0].value_of("d").starts_with(start));
}

TEST(ScatterPlot, PointsKeepTheirOrderAndThoseThatAreNotFiniteAreCounted) {
  ScatterPlotData data;
  data.points = points({{3, 1}, {1, 2}, {kNaN, 1}, {2, 3}});
  const CheckedSvg svg = checked_svg(scatter_plot(data, some_chart_text()));
  const std::vector<double> x = svg.numbers("point", "cx"), y = svg.numbers("point", "cy");
  ASSERT_EQ(x.size(), 3U);
  EXPECT_GT(x[0], x[2]);
  EXPECT_GT(x[2], x[1]);
  EXPECT_GT(y[0], y[1]);  // upwards
  EXPECT_NE(svg.content.find("Not drawn: 1 point"), std::string::npos);
}

/// Where the labels of a chart stand, by the estimate of their width.
struct LabelBox {
  double left = 0, right = 0, base = 0;
};

std::vector<LabelBox> label_boxes(const CheckedSvg& svg, double width) {
  std::vector<LabelBox> out;
  for (const CheckedTag& tag : svg.of_class("small")) {
    const std::string anchor = tag.value_of("text-anchor");
    const double x = std::stod(tag.value_of("x"));
    const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
    out.push_back({left, left + width, std::stod(tag.value_of("y"))});
  }
  return out;
}

TEST(ScatterPlot, LabelsCoverNeitherPointsNorEachOther) {
  ScatterPlotData data;
  data.points = points({{0, 0}, {100, 100}});
  for (int i = 0; i < 60; ++i) {
    data.points.push_back({.label = "p" + std::to_string(10 + i),
                           .x = 40 + static_cast<double>(i * 37 % 29),
                           .y = 40 + static_cast<double>(i * 53 % 31)});
  }
  const std::string text = scatter_plot(data, some_chart_text());
  const CheckedSvg svg = checked_svg(text);
  const std::vector<LabelBox> labels = label_boxes(svg, chart_text_width("p10", kSmallFont));
  const std::vector<double> x = svg.numbers("point", "cx"), y = svg.numbers("point", "cy");
  EXPECT_EQ(x.size(), 62U);
  EXPECT_GT(labels.size(), 15U);
  EXPECT_LT(labels.size(), 62U);  // there is no room for all
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool beside =
          labels[i].left >= labels[k].right - 0.1 || labels[k].left >= labels[i].right - 0.1;
      EXPECT_TRUE(beside || std::abs(labels[i].base - labels[k].base) >= kSmallFont);
    }
    for (std::size_t k = 0; k < x.size(); ++k) {
      const bool beside = x[k] <= labels[i].left || x[k] >= labels[i].right;
      EXPECT_TRUE(beside || y[k] > labels[i].base + 3 || y[k] < labels[i].base - kSmallFont);
    }
  }
  for (int i = 0; i < 60; ++i)  // those without a label have their tooltip
    EXPECT_NE(text.find("<title>p" + std::to_string(10 + i) + ": "), std::string::npos);
}

/// Points above each other, and one in a corner: each has a place for its whole name.
TEST(ScatterPlot, AFewPointsAllHaveTheirNames) {
  ScatterPlotData data;
  for (int i = 0; i < 7; ++i) {
    data.points.push_back({.label = "model.modulation.hidden=16,scale=1/L," + std::to_string(i),
                           .x = 5.7e7,
                           .y = 1.828 + 1e-5 * i});
  }
  data.points.push_back({.label = "gpt", .x = 5.9e7, .y = 1.82});
  data.front = true;
  const std::string text = scatter_plot(data, some_chart_text());
  const CheckedSvg svg = checked_svg(text);
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("small").size(), 8U);
  EXPECT_FALSE(svg.of_class("leader").empty());
  for (int i = 0; i < 7; ++i) {
    EXPECT_NE(text.find(">model.modulation.hidden=16,scale=1/L," + std::to_string(i) + "</text>"),
              text.npos)
        << "whole";
  }
}

TEST(ScatterPlot, SeriesDifferInTheirShapes) {
  ScatterPlotData data;
  data.points = points({{1, 1}, {2, 2}});
  data.points[1].series = 1;
  const auto marks = checked_svg(scatter_plot(data, some_chart_text())).of_class("point");
  EXPECT_EQ(marks[0].name, "circle");
  EXPECT_EQ(marks[1].name, "path");
}

TEST(ScatterPlot, IntervalsAreDrawnAndHaveRoom) {
  ScatterPlotData data;
  data.points = points({{1, 1}, {2, 2}, {3, 3}});
  EXPECT_TRUE(checked_svg(scatter_plot(data, some_chart_text())).of_class("interval").empty());
  const std::vector<double> before =
      checked_svg(scatter_plot(data, some_chart_text())).numbers("point", "cy");
  data.points[1].interval = {-10, 12};
  const std::string text = scatter_plot(data, some_chart_text());
  const CheckedSvg svg = checked_svg(text);
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("interval").size(), 1U);
  const std::vector<double> after = svg.numbers("point", "cy");
  EXPECT_LT(after[0] - after[2], (before[0] - before[2]) / 5) << "the axis reaches to its ends";
  EXPECT_NE(text.find("<title>p1: 2, 2 [-10, 12]</title>"), std::string::npos);
  data.points[1].interval = {3, 1};
  EXPECT_THROW(scatter_plot(data, some_chart_text()), Error);
}

TEST(ScatterPlot, ALogAxisIsNamedInItsError) {
  ScatterPlotData data;
  data.points = points({{0, 1}, {10, 2}});
  EXPECT_EQ(checked_svg(scatter_plot(data, some_chart_text())).fault, "");
  data.x_scale = AxisScale::Log;
  EXPECT_THROW(scatter_plot(data, some_chart_text()), Error);
}

}  // namespace scatter_plot_test
}  // namespace depthgrid
