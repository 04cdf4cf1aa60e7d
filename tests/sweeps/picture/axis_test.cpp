#include "sweeps/picture/axis.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace axis_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string labels(double low, double high, AxisScale scale = AxisScale::Linear,
                   std::size_t most = 8) {
  std::string out;
  for (const AxisTick& tick : nice_ticks({.low = low, .high = high}, scale, most))
    out += (out.empty() ? "" : " ") + tick.label;
  return out;
}

void expect_range(const AxisRange& range, double low, double high) {
  EXPECT_DOUBLE_EQ(range.low, low);
  EXPECT_DOUBLE_EQ(range.high, high);
}

TEST(Axis, TicksAreRoundNumbersWithTheDecimalsOfTheirStep) {
  EXPECT_EQ(labels(0, 1), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(labels(0.003, 0.0031), "0.00300 0.00302 0.00304 0.00306 0.00308 0.00310");
  EXPECT_EQ(labels(0, 7), "0 1 2 3 4 5 6 7");
  EXPECT_EQ(labels(0, 10), "0 2 4 6 8 10");
  EXPECT_EQ(labels(-1.2, 0.7), "-1.0 -0.5 0.0 0.5");
  EXPECT_EQ(labels(-3, -1), "-3.0 -2.5 -2.0 -1.5 -1.0");
  EXPECT_EQ(labels(0, 100'000), "0 20000 40000 60000 80000 100000");
  EXPECT_EQ(labels(2.3811, 2.3829), "2.3815 2.3820 2.3825");
}

TEST(Axis, TicksOfVerySmallAndLargeNumbersHaveAnExponent) {
  EXPECT_EQ(labels(0, 1e-5), "0 2e-6 4e-6 6e-6 8e-6 1e-5");
  EXPECT_EQ(labels(0, 1.2e-5), "0 2.0e-6 4.0e-6 6.0e-6 8.0e-6 1.0e-5 1.2e-5");
  EXPECT_EQ(labels(-5e-4, 5e-4), "-4e-4 -2e-4 0 2e-4 4e-4");
  EXPECT_EQ(labels(0, 5e6), "0 1e6 2e6 3e6 4e6 5e6");
  EXPECT_EQ(labels(1'000'000, 1'000'005),
            "1000000 1000001 1000002 1000003 1000004 1000005");  // shorter than 1.000001e6
  EXPECT_EQ(labels(-2e300, 2e300), "-2e300 -1e300 0 1e300 2e300");
}

TEST(Axis, ValuesOfTicksAreRoundedOnce) {
  const std::vector<AxisTick> ticks = nice_ticks({.low = 0, .high = 1}, AxisScale::Linear);
  ASSERT_EQ(ticks.size(), 6U);
  EXPECT_EQ(ticks[3].value, 0.6);  // 3 * 0.2 is 0.6000000000000001
  EXPECT_EQ(nice_ticks({.low = 0, .high = 0.35}, AxisScale::Linear)[6].value, 0.3);
}

TEST(Axis, ThereAreFewTicksButNeverFewerThanTwo) {
  for (const double low : {-7.3, -1e-4, 0.0, 0.123, 42.0, 9.99e5}) {
    for (const double span : {1e-3, 0.37, 1.0, 9.4, 250.0, 1e7}) {
      for (const std::size_t most : {3U, 5U, 8U}) {
        const auto ticks = nice_ticks({.low = low, .high = low + span}, AxisScale::Linear, most);
        EXPECT_GE(ticks.size(), 2U) << low << " " << span << " " << most;
        EXPECT_LE(ticks.size(), most + 2) << low << " " << span << " " << most;
        for (std::size_t i = 0; i < ticks.size(); ++i) {
          EXPECT_GE(ticks[i].value, low - 1e-9 * span);
          EXPECT_LE(ticks[i].value, low + span * (1 + 1e-9));
          EXPECT_TRUE(i == 0 || ticks[i].label != ticks[i - 1].label);
        }
      }
    }
  }
}

TEST(Axis, LogTicksArePowersOfTen) {
  EXPECT_EQ(labels(1, 1e6, AxisScale::Log), "1e0 1e1 1e2 1e3 1e4 1e5 1e6");
  EXPECT_EQ(labels(0.01, 100, AxisScale::Log), "0.01 0.1 1 10 100");
  EXPECT_EQ(labels(1e-8, 1e-5, AxisScale::Log), "1e-8 1e-7 1e-6 1e-5");
  EXPECT_EQ(labels(1, 1e20, AxisScale::Log), "1e0 1e3 1e6 1e9 1e12 1e15 1e18");
}

TEST(Axis, FewPowersHaveTwosAndFivesBetweenThem) {
  EXPECT_EQ(labels(1, 100, AxisScale::Log), "1 2 5 10 20 50 100");
  EXPECT_EQ(labels(0.02, 0.5, AxisScale::Log), "0.02 0.05 0.1 0.2 0.5");
  EXPECT_EQ(labels(2e-4, 5e-4, AxisScale::Log), "2e-4 5e-4");
  EXPECT_EQ(labels(1, 100, AxisScale::Log, 3), "1 10 100");
  EXPECT_EQ(labels(1.1, 1.9, AxisScale::Log), "1.2 1.4 1.6 1.8");  // neither 1, 2 nor 5
}

TEST(Axis, WhatIsNoRangeIsAnError) {
  EXPECT_THROW(labels(1, 1), Error);
  EXPECT_THROW(labels(2, 1), Error);
  EXPECT_THROW(labels(kNaN, 1), Error);
  EXPECT_THROW(labels(0, kInfinity), Error);
  EXPECT_THROW(labels(0, 1, AxisScale::Log), Error);
  EXPECT_THROW(labels(0, 1, AxisScale::Linear, 2), Error);
}

TEST(Axis, PixelsAreExact) {
  const ChartAxis x = chart_axis({.low = 0, .high = 10}, AxisScale::Linear, 100, 500, 70);
  EXPECT_EQ(x.pixel(0), 100);
  EXPECT_EQ(x.pixel(2.5), 200);
  EXPECT_EQ(x.pixel(10), 500);
  EXPECT_EQ(x.pixel(-5), -100);
  const ChartAxis up = chart_axis({.low = -1, .high = 1}, AxisScale::Linear, 300, 20, 45);
  EXPECT_EQ(up.pixel(0), 160);
  EXPECT_EQ(up.pixel(1), 20);
  const ChartAxis log = chart_axis({.low = 1, .high = 1000}, AxisScale::Log, 0, 300, 70);
  EXPECT_NEAR(log.pixel(10), 100, 1e-12);
  EXPECT_NEAR(log.pixel(100), 200, 1e-12);
  EXPECT_EQ(log.pixel(1000), 300);
}

TEST(Axis, ClampedPixelsStayInThePlot) {
  const ChartAxis log = chart_axis({.low = 1, .high = 1000}, AxisScale::Log, 0, 300, 70);
  EXPECT_EQ(log.pixel_within(-kInfinity), 0);
  EXPECT_EQ(log.pixel_within(0), 0);
  EXPECT_EQ(log.pixel_within(kInfinity), 300);
  EXPECT_EQ(log.pixel_within(1e7), 300);
  const ChartAxis up = chart_axis({.low = 0, .high = 1}, AxisScale::Linear, 200, 0, 45);
  EXPECT_EQ(up.pixel_within(2), 0);
  EXPECT_EQ(up.pixel_within(0.25), 150);
}

TEST(Axis, RangesArePadded) {
  expect_range(padded_range(std::vector<double>{0, 10, 4}, AxisScale::Linear, "x", 0.1), -1, 11);
  expect_range(padded_range(std::vector<double>{10, 1000}, AxisScale::Log, "x", 0.5), 1, 10'000);
  expect_range(padded_range(std::vector<double>{1, 1000}, AxisScale::Log, "x", 0), 1, 1000);
}

TEST(Axis, EqualValuesHaveARange) {
  expect_range(padded_range(std::vector<double>{2}, AxisScale::Linear, "x"), 1.9, 2.1);
  expect_range(padded_range(std::vector<double>{-2, -2}, AxisScale::Linear, "x"), -2.1, -1.9);
  expect_range(padded_range(std::vector<double>{0, 0}, AxisScale::Linear, "x"), -1, 1);
  expect_range(padded_range(std::vector<double>{8}, AxisScale::Log, "x"), 4, 16);
  const std::vector<double> rounded = {0.3, 0.1 + 0.2};
  expect_range(padded_range(rounded, AxisScale::Linear, "x"), 0.285, 0.315 + 1e-17);
}

TEST(Axis, NoValuesHaveARange) {
  expect_range(padded_range({}, AxisScale::Linear, "x"), 0, 1);
  expect_range(padded_range({}, AxisScale::Log, "x"), 1, 10);
  expect_range(padded_range(std::vector<double>{kNaN, kInfinity}, AxisScale::Linear, "x"), 0, 1);
}

TEST(Axis, WhatCannotBeDrawnDoesNotCount) {
  const std::vector<double> values = {kNaN, 0, kInfinity, 10, -kInfinity, 1e301};
  expect_range(padded_range(values, AxisScale::Linear, "x", 0.1), -1, 11);
  EXPECT_FALSE(can_be_drawn(kNaN, AxisScale::Linear));
  EXPECT_FALSE(can_be_drawn(-kInfinity, AxisScale::Linear));
  EXPECT_FALSE(can_be_drawn(0, AxisScale::Log));
  EXPECT_TRUE(can_be_drawn(0, AxisScale::Linear));
  EXPECT_TRUE(can_be_drawn(1e-10, AxisScale::Log));
}

TEST(Axis, AnyRangeOfDoublesCanBeDrawn) {
  for (const double low : {-1e300, -1.0, 0.0, 1e-300, 1e299}) {
    for (const double high : {1e-290, 1e-3, 1e300}) {
      if (!(low < high)) continue;
      const AxisRange range = padded_range(std::vector<double>{low, high}, AxisScale::Linear, "x");
      const ChartAxis axis = chart_axis(range, AxisScale::Linear, 0, 100, 20);
      EXPECT_GE(axis.ticks.size(), 2U) << low << " " << high;
      EXPECT_TRUE(std::isfinite(axis.pixel(low)) && std::isfinite(axis.pixel(high)));
    }
  }
  const std::vector<double> all = {1e-300, 1e300};
  const ChartAxis log =
      chart_axis(padded_range(all, AxisScale::Log, "x", 0), AxisScale::Log, 0, 100, 20);
  EXPECT_NEAR(log.pixel(1), 50, 1e-9);
}

TEST(Axis, ALogAxisNamesWhatItCannotShow) {
  for (const double value : {0.0, -3.0, -kInfinity}) {
    const std::string shown = value == 0 ? "0" : value == -3 ? "-3" : "-∞";
    try {
      padded_range(std::vector<double>{1, value}, AxisScale::Log, "training step");
      ADD_FAILURE() << value;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("training step"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(shown), std::string::npos);
    }
  }
}

}  // namespace axis_test
}  // namespace depthgrid
