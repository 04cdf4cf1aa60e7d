#include "sweeps/picture/band_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

struct Line {
  std::vector<double> x, y;
};

Line wave(std::size_t n) {
  Line out;
  for (std::size_t i = 0; i < n; ++i) {
    out.x.push_back(0.1 * static_cast<double>(i));
    out.y.push_back(std::sin(0.37 * static_cast<double>(i)) +
                    std::cos(1.3 * static_cast<double>(i * i % 101)));
  }
  return out;
}

TEST(Downsample, FewPointsAllStay) {
  EXPECT_EQ(m4_points(std::vector<double>{}, std::vector<double>{}, 4), std::vector<std::size_t>{});
  EXPECT_EQ(m4_points(std::vector<double>{1, 2, 3, 3}, std::vector<double>{4, 5, 6, 7}, 4),
            (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Downsample, OneColumnKeepsFirstLowestHighestAndLast) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5}, y = {3, 9, 4, 1, 5, 2};
  EXPECT_EQ(m4_points(x, y, 4), (std::vector<std::size_t>{0, 1, 3, 5}));
  EXPECT_EQ(m4_points(std::vector<double>(6, 2.0), y, 4), (std::vector<std::size_t>{0, 1, 3, 5}));
}

TEST(Downsample, EveryColumnKeepsItsExtremes) {
  const Line line = wave(10'000);
  const std::vector<std::size_t> kept = m4_points(line.x, line.y, 400);
  EXPECT_LE(kept.size(), 400U);
  EXPECT_GE(kept.size(), 300U);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_EQ(std::ranges::adjacent_find(kept), kept.end());
  EXPECT_EQ(kept.front(), 0U);
  EXPECT_EQ(kept.back(), 9999U);
  for (std::size_t column = 0; column < 100; ++column) {
    // The last point alone lies at the right edge, which belongs to the last column.
    const auto within = [&](std::size_t i) {
      const double place = line.x[i] / line.x.back() * 100;
      return std::min<std::size_t>(99, static_cast<std::size_t>(place)) == column;
    };
    double lowest = 1e9, highest = -1e9, kept_lowest = 1e9, kept_highest = -1e9;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!within(i)) continue;
      lowest = std::min(lowest, line.y[i]);
      highest = std::max(highest, line.y[i]);
    }
    for (const std::size_t i : kept) {
      if (!within(i)) continue;
      kept_lowest = std::min(kept_lowest, line.y[i]);
      kept_highest = std::max(kept_highest, line.y[i]);
    }
    EXPECT_EQ(kept_lowest, lowest) << column;
    EXPECT_EQ(kept_highest, highest) << column;
  }
}

TEST(Downsample, ASpikeIsNotLost) {
  Line line = wave(5000);
  line.y[3217] = 1e6;
  line.y[1234] = -1e6;
  const std::vector<std::size_t> kept = m4_points(line.x, line.y, 40);
  EXPECT_LE(kept.size(), 40U);
  EXPECT_TRUE(std::ranges::binary_search(kept, std::size_t{3217}));
  EXPECT_TRUE(std::ranges::binary_search(kept, std::size_t{1234}));
}

TEST(Downsample, WhatIsNoCurveIsAnError) {
  const std::vector<double> x = {0, 1, 2};
  EXPECT_THROW(m4_points(x, std::vector<double>{1}, 4), Error);
  EXPECT_THROW(m4_points(x, x, 3), Error);
  EXPECT_THROW(m4_points(std::vector<double>{0, 2, 1}, x, 4), Error);
}

}  // namespace band_curve_test
}  // namespace depthgrid
