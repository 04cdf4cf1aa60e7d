#include "sweeps/picture/label_layout.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace label_layout_test {

using Places = std::vector<double>;

TEST(LabelLayout, LabelsWithRoomStayWhereTheyAre) {
  EXPECT_EQ(spread_apart(Places{10, 80, 40}, 16, 0, 100), (Places{10, 80, 40}));
  EXPECT_EQ(spread_apart(Places{}, 16, 0, 100), Places{});
  EXPECT_EQ(spread_apart(Places{-5, 120}, 16, 0, 100), (Places{0, 100}));
}

TEST(LabelLayout, LabelsThatWouldTouchMoveApartEvenly) {
  EXPECT_EQ(spread_apart(Places{50, 54}, 16, 0, 100), (Places{44, 60}));
  EXPECT_EQ(spread_apart(Places{50, 50, 50}, 10, 0, 100), (Places{40, 50, 60}));
  EXPECT_EQ(spread_apart(Places{54, 50}, 16, 0, 100), (Places{60, 44}));  // order of the argument
  EXPECT_EQ(spread_apart(Places{98, 99, 20}, 10, 0, 100), (Places{90, 100, 20}));
}

TEST(LabelLayout, LabelsAreALineApartInTheirOrderWithinTheLimits) {
  std::vector<double> wanted;
  for (int i = 0; i < 15; ++i) wanted.push_back(150 + 40 * ((i * 7919) % 13) / 13.0);
  const std::vector<double> places = spread_apart(wanted, 19, 0, 300);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_GE(places[i], 0);
    EXPECT_LE(places[i], 300);
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_GE(std::abs(places[i] - places[k]), 19 - 1e-9);
      // Of equal ones the earlier stands above.
      EXPECT_EQ(wanted[k] <= wanted[i], places[k] < places[i]) << k << " " << i;
    }
  }
}

TEST(LabelLayout, WithoutRoomForAllTheyGoOnBelow) {
  EXPECT_EQ(spread_apart(Places{5, 5, 5}, 10, 0, 12), (Places{0, 10, 20}));
}

}  // namespace label_layout_test
}  // namespace depthgrid
