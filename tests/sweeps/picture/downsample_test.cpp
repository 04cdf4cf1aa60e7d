#include "sweeps/picture/downsample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace downsample_test {

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

}  // namespace downsample_test
}  // namespace depthgrid
