#include "sweeps/picture/mean_plot.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/picture/chart_stylesheet.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace mean_plot_test {

struct Dot {
  double x = 0, y = 0;
};

/// The dots of each row: "M1 2h0M3 4h0".
std::vector<std::vector<Dot>> dots_of(const CheckedSvg& svg) {
  std::vector<std::vector<Dot>> out;
  for (const CheckedTag& tag : svg.of_class("dots")) {
    std::vector<Dot>& row = out.emplace_back();
    const std::string path = tag.value_of("d");
    for (const char* at = path.c_str(); *at == 'M'; at += 2) {
      char* end = nullptr;
      const double x = std::strtod(at + 1, &end);
      row.push_back({x, std::strtod(end, &end)});
      EXPECT_EQ(std::string(end, 2), "h0");
      at = end;
    }
  }
  return out;
}

TEST(MeanPlot, EverySeedHasADot) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {1, 2, 3}, .mean = 2, .interval = {.low = 1, .high = 3}},
               {.label = "b", .values = {2, 2, 2, 2}, .mean = 2, .series = 1}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  const auto dots = dots_of(svg);
  ASSERT_EQ(dots.size(), 2U);
  EXPECT_EQ(dots[0].size(), 3U);
  EXPECT_EQ(dots[1].size(), 4U);
  EXPECT_EQ(svg.of_class("mean").size(), 2U);
  EXPECT_EQ(svg.of_class("interval").size(), 1U);
  EXPECT_EQ(svg.content.find("Not drawn"), std::string::npos);
}

TEST(MeanPlot, EqualSeedsDoNotHideEachOther) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {2, 2.0001, 2, 1}, .mean = 1.75}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  ASSERT_EQ(dots_of(svg).size(), 1U);
  const std::vector<Dot> dots = dots_of(svg)[0];
  ASSERT_EQ(dots.size(), 4U);
  constexpr double kDiameter = 6.4;  // the width of .dots in the style sheet
  EXPECT_NE(chart_stylesheet().find(".dots{fill:none;stroke:currentColor;stroke-width:6.4;"),
            std::string::npos);
  for (std::size_t i = 0; i < dots.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_GE(std::hypot(dots[i].x - dots[k].x, dots[i].y - dots[k].y), kDiameter - 0.05)
          << i << " " << k;
  }
  EXPECT_LT(dots[3].x, dots[0].x);
}

TEST(MeanPlot, SeedsWithoutAValueAreCounted) {
  MeanPlotData data;
  const double infinity = std::numeric_limits<double>::infinity();
  data.rows = {{.label = "a", .values = {1, kNaN, 3, infinity}, .mean = kNaN}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  EXPECT_EQ(dots_of(svg)[0].size(), 2U);
  EXPECT_TRUE(svg.of_class("mean").empty());
  EXPECT_NE(svg.content.find("Not drawn: 2"), std::string::npos);
}

TEST(MeanPlot, ALogAxisShowsNoNegativeSeed) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {1, -2}}};
  data.scale = AxisScale::Log;
  EXPECT_THROW(mean_plot(data, some_chart_text()), Error);
  data.rows[0].values[1] = 1000;
  EXPECT_EQ(dots_of(checked_svg(mean_plot(data, some_chart_text())))[0].size(), 2U);
}

TEST(MeanPlot, ManySeedsAreToldByTheirRange) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {}, .mean = 50}};
  for (int i = 0; i < 100; ++i) data.rows[0].values.push_back(i);
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  EXPECT_EQ(dots_of(svg)[0].size(), 100U);
  EXPECT_NE(svg.content.find("100 seeds from 0 to 99"), std::string::npos);
}

}  // namespace mean_plot_test
}  // namespace depthgrid
