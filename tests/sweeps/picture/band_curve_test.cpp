#include "sweeps/picture/band_curve.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace band_curve_test {

BandCurve ramp(std::size_t n, bool bands = true) {
  BandCurve out;
  out.label = "arm";
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    out.x.push_back(x);
    out.mean.push_back(x);
    if (bands) out.low.push_back(x - 1);
    if (bands) out.high.push_back(x + 1);
  }
  return out;
}

ChartAxis plain_axis(double high) {  // pixel = value
  return chart_axis({.low = 0, .high = high}, AxisScale::Linear, 0, high, 20);
}

CheckedSvg drawn(const BandCurve& curve, std::size_t most = 400) {
  SvgWriter svg(some_chart_text(), 100, 100);
  draw_band(svg, curve, plain_axis(100), plain_axis(100), most);
  draw_curve(svg, curve, plain_axis(100), plain_axis(100), most);
  return checked_svg(svg.finish());
}

TEST(BandCurve, TheLineGoesThroughItsPointsAndTheBandAroundThem) {
  const CheckedSvg svg = drawn(ramp(3));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("curve")[0].value_of("d"), "M0 0 L1 1 L2 2");
  EXPECT_EQ(svg.of_class("band")[0].value_of("d"), "M0 1 L1 2 L2 3 L2 1 L1 0 L0 -1 Z");
  EXPECT_TRUE(drawn(ramp(3, false)).of_class("band").empty());
}

TEST(BandCurve, AGapStaysAGap) {
  BandCurve curve = ramp(7);
  curve.mean[2] = kNaN;
  curve.low[2] = kNaN;
  curve.mean[4] = std::numeric_limits<double>::infinity();
  const CheckedSvg svg = drawn(curve);
  EXPECT_EQ(svg.of_class("curve")[0].value_of("d"), "M0 0 L1 1 M5 5 L6 6");
  EXPECT_EQ(svg.numbers("point", "cx"), std::vector<double>{3});  // alone between two gaps
  EXPECT_EQ(occurrences(svg.of_class("band")[0].value_of("d"), "M"), 2U);
}

TEST(BandCurve, AGapBetweenThinnedPointsStaysAGap) {
  BandCurve curve = ramp(1000, false);
  for (double& x : curve.x) x /= 10;
  for (double& y : curve.mean) y /= 10;
  for (std::size_t i = 400; i < 600; ++i) curve.mean[i] = kNaN;
  const CheckedSvg svg = drawn(curve, 40);
  EXPECT_EQ(occurrences(svg.of_class("curve")[0].value_of("d"), "M"), 2U);
}

TEST(BandCurve, ManyPointsAreThinnedWithTheirExtremes) {
  BandCurve curve = ramp(10'000, false);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    curve.x[i] /= 100;
    curve.mean[i] = 50 + std::sin(static_cast<double>(i));
  }
  curve.mean[7777] = 99;
  curve.mean[2222] = 1;
  const std::string path = drawn(curve, 200).of_class("curve")[0].value_of("d");
  EXPECT_LE(occurrences(path, "L") + occurrences(path, "M"), 200U);
  EXPECT_NE(path.find(" L77.77 99 "), std::string::npos);
  EXPECT_NE(path.find(" L22.22 1 "), std::string::npos);
}

TEST(BandCurve, NoPointIsNoElement) {
  BandCurve curve = ramp(2);
  curve.mean = {kNaN, kNaN};
  curve.low = {kNaN, kNaN};
  const CheckedSvg svg = drawn(curve);
  EXPECT_TRUE(svg.of_class("curve").empty() && svg.of_class("band").empty());
  EXPECT_EQ(drawn({}).fault, "");
}

TEST(BandCurve, WhatIsNoCurveIsAnErrorWithItsName) {
  const auto message = [](const BandCurve& curve) {
    try {
      require_band_curve(curve);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(ramp(3)), "");
  BandCurve curve = ramp(3);
  curve.mean.pop_back();
  EXPECT_NE(message(curve).find("'arm'"), std::string::npos);
  curve = ramp(3);
  curve.low.clear();
  EXPECT_NE(message(curve), "");
  curve = ramp(3);
  curve.x[1] = 5;
  EXPECT_NE(message(curve), "");
  curve = ramp(3);
  curve.low[1] = 9;
  EXPECT_NE(message(curve), "");
}

}  // namespace band_curve_test
}  // namespace depthgrid
