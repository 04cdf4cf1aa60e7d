#include "sweeps/picture/bar_spectrum.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace bar_spectrum_test {

TEST(BarSpectrum, BarsStandOnZeroOrHangFromIt) {
  BarSpectrumData data;
  data.values = {0.5, 0, -0.5};
  data.intervals = {{0.4, 0.6}, {-0.1, 0.1}, {-0.6, -0.4}};
  const CheckedSvg svg = checked_svg(bar_spectrum(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  const std::vector<double> top = svg.numbers("bar", "y"), height = svg.numbers("bar", "height");
  const double zero = svg.numbers("zero", "y1")[0];
  ASSERT_EQ(top.size(), 3U);
  EXPECT_NEAR(top[0] + height[0], zero, 0.02);
  EXPECT_NEAR(top[2], zero, 0.02);
  EXPECT_NEAR(height[0], height[2], 0.02);
  EXPECT_EQ(height[1], 0);
  EXPECT_EQ(svg.of_class("interval").size(), 3U);
}

TEST(BarSpectrum, PositiveBarsStandOnTheAxis) {
  BarSpectrumData data;
  data.values = {3, 2, 1};
  const CheckedSvg svg = checked_svg(bar_spectrum(data, some_chart_text()));
  double lowest = 0;
  for (const double y : svg.numbers("axis", "y2")) lowest = std::max(lowest, y);
  EXPECT_NEAR(svg.numbers("zero", "y1")[0], lowest, 0.02);
}

TEST(BarSpectrum, WhatIsNoNumberIsNoBarButKeepsItsPlace) {
  BarSpectrumData data;
  data.values = {1, kNaN, -std::numeric_limits<double>::infinity(), 4};
  const CheckedSvg svg = checked_svg(bar_spectrum(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("bar").size(), 2U);
  EXPECT_NE(svg.content.find("Not drawn: 2"), std::string::npos);
  EXPECT_NE(svg.content.find("4: 4"), std::string::npos);  // the fourth is 4
  EXPECT_NE(svg.content.find("-∞"), std::string::npos);
}

TEST(BarSpectrum, ManyBarsHaveEverySoManyIndices) {
  BarSpectrumData data;
  data.first_index = 0;
  for (int i = 0; i < 512; ++i) data.values.push_back(1.0 - i / 300.0);
  const CheckedSvg svg = checked_svg(bar_spectrum(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("bar").size(), 512U);
  EXPECT_LT(svg.of_class("tick").size(), 40U);
}

TEST(BarSpectrum, OneValueAndOnlyZerosAreDrawn) {
  for (const double value : {0.0, 2.0, -1e-9}) {
    BarSpectrumData data;
    data.values = {value};
    EXPECT_EQ(checked_svg(bar_spectrum(data, some_chart_text())).of_class("bar").size(), 1U);
  }
  BarSpectrumData data;
  data.values = {1, 2};
  data.intervals = {{0, 1}};
  EXPECT_THROW(bar_spectrum(data, some_chart_text()), Error);
}

}  // namespace bar_spectrum_test
}  // namespace depthgrid
