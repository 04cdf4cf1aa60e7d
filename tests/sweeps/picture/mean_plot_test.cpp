#include "sweeps/picture/mean_plot.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace mean_plot_test {

TEST(MeanPlot, EverySeedHasADot) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {1, 2, 3}, .mean = 2, .interval = {.low = 1, .high = 3}},
               {.label = "b", .values = {2, 2, 2, 2}, .mean = 2, .series = 1}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("point").size(), 7U);
  EXPECT_EQ(svg.of_class("mean").size(), 2U);
  EXPECT_EQ(svg.of_class("interval").size(), 1U);
  EXPECT_EQ(svg.content.find("Not drawn"), std::string::npos);
}

TEST(MeanPlot, EqualSeedsDoNotHideEachOther) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {2, 2.0001, 2, 1}, .mean = 1.75}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  const std::vector<double> x = svg.numbers("point", "cx"), y = svg.numbers("point", "cy");
  const std::vector<double> r = svg.numbers("point", "r");
  ASSERT_EQ(x.size(), 4U);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_GE(std::hypot(x[i] - x[k], y[i] - y[k]), 2 * r[i] - 0.05) << i << " " << k;
  }
  EXPECT_LT(x[3], x[0]);
}

TEST(MeanPlot, SeedsWithoutAValueAreCounted) {
  MeanPlotData data;
  const double infinity = std::numeric_limits<double>::infinity();
  data.rows = {{.label = "a", .values = {1, kNaN, 3, infinity}, .mean = kNaN}};
  const CheckedSvg svg = checked_svg(mean_plot(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("point").size(), 2U);
  EXPECT_TRUE(svg.of_class("mean").empty());
  EXPECT_NE(svg.content.find("Not drawn: 2"), std::string::npos);
}

TEST(MeanPlot, ALogAxisShowsNoNegativeSeed) {
  MeanPlotData data;
  data.rows = {{.label = "a", .values = {1, -2}}};
  data.scale = AxisScale::Log;
  EXPECT_THROW(mean_plot(data, some_chart_text()), Error);
  data.rows[0].values[1] = 1000;
  EXPECT_EQ(checked_svg(mean_plot(data, some_chart_text())).of_class("point").size(), 2U);
}

}  // namespace mean_plot_test
}  // namespace depthgrid
