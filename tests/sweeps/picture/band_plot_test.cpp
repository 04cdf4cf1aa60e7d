#include "sweeps/picture/band_plot.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/picture/end_labels.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace band_plot_test {

BandPlotData arms(std::size_t count) {
  BandPlotData out;
  for (std::size_t a = 0; a < count; ++a) {
    BandCurve curve;
    curve.label = "arm " + std::to_string(a);
    curve.series = a;
    for (int i = 1; i <= 50; ++i) {
      const double y = 2 + 3 * std::exp(-i / 10.0) + 0.001 * static_cast<double>(a);
      curve.x.push_back(100.0 * i);
      curve.mean.push_back(y);
      curve.low.push_back(y - 0.1);
      curve.high.push_back(y + 0.1);
    }
    out.curves.push_back(curve);
  }
  return out;
}

TEST(BandPlot, EveryCurveHasALineABandAndALabel) {
  const CheckedSvg svg = checked_svg(band_plot(arms(4), some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("curve").size(), 4U);
  EXPECT_EQ(svg.of_class("band").size(), 4U);
  EXPECT_EQ(svg.of_class("leader").size(), 4U);
  std::set<std::string> dashes;
  for (const CheckedTag& curve : svg.of_class("curve"))
    dashes.insert(curve.value_of("stroke-dasharray"));
  EXPECT_EQ(dashes.size(), 4U);
  EXPECT_NE(svg.content.find("arm 3"), std::string::npos);
}

TEST(BandPlot, LabelsOfManyCurvesStayApartAndInThePicture) {
  const CheckedSvg svg = checked_svg(band_plot(arms(30), some_chart_text("", "")));
  std::vector<double> y = svg.numbers("label", "y");
  ASSERT_EQ(y.size(), 30U);
  std::ranges::sort(y);
  for (std::size_t i = 1; i < y.size(); ++i) EXPECT_GE(y[i] - y[i - 1], kEndLabelHeight - 0.02);
  const std::string box = svg.tags[0].value_of("viewBox");
  EXPECT_LT(y.back(), std::stod(box.substr(box.rfind(' '))));
  EXPECT_GT(y.front(), 0);
}

TEST(BandPlot, ManyLinesHaveFewerPointsEach) {
  BandPlotData data = arms(200);
  for (BandCurve& curve : data.curves) {
    curve = {.label = curve.label, .x = {}, .mean = {}};
    for (int i = 0; i < 300; ++i) {
      curve.x.push_back(i);
      curve.mean.push_back(i % 7);
    }
  }
  const auto points = [](const BandPlotData& plot) {
    const CheckedSvg svg = checked_svg(band_plot(plot, some_chart_text("", "")));
    return occurrences(svg.of_class("curve")[0].value_of("d"), "L") + 1;
  };
  EXPECT_LE(points(data), 48U);
  data.curves.resize(1);
  EXPECT_EQ(points(data), 300U);
}

TEST(BandPlot, ALogAxisTakesNoStepZero) {
  BandPlotData data = arms(1);
  data.x_scale = AxisScale::Log;
  EXPECT_EQ(checked_svg(band_plot(data, some_chart_text())).fault, "");
  data.curves[0].x[0] = 0;
  EXPECT_THROW(band_plot(data, some_chart_text()), Error);
}

TEST(BandPlot, ACurveWithoutAPointIsLeftOut) {
  BandPlotData data = arms(2);
  data.curves[0].mean.assign(50, kNaN);
  const CheckedSvg svg = checked_svg(band_plot(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("curve").size(), 1U);
  EXPECT_EQ(svg.content.find("arm 0"), std::string::npos);
  data.curves[1].mean.assign(50, kNaN);
  EXPECT_NE(band_plot(data, some_chart_text()).find("no data"), std::string::npos);
}

TEST(BandPlot, OnePointIsADot) {
  BandPlotData data;
  data.curves = {{.label = "a", .x = {10}, .mean = {2}, .low = {}, .high = {}}};
  const CheckedSvg svg = checked_svg(band_plot(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("point").size(), 1U);
}

}  // namespace band_plot_test
}  // namespace depthgrid
