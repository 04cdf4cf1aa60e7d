#include "sweeps/picture/end_labels.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace end_labels_test {

constexpr PlotArea kArea = {.left = 50, .top = 20, .right = 600, .bottom = 320};

CheckedSvg drawn(const std::vector<EndLabel>& labels) {
  SvgWriter svg(some_chart_text(), kChartWidth, 400);
  draw_end_labels(svg, kArea, labels);
  return checked_svg(svg.finish());
}

TEST(EndLabels, LabelsKeepALineOfTextApartAndTheirOrder) {
  std::vector<EndLabel> labels;
  for (std::size_t i = 0; i < 9; ++i)
    labels.push_back(
        {.text = "arm", .x = 590, .y = 318 - 0.5 * static_cast<double>(i), .series = i});
  const CheckedSvg svg = drawn(labels);
  EXPECT_EQ(svg.fault, "");
  const std::vector<double> y = svg.numbers("label", "y");
  ASSERT_EQ(y.size(), 9U);
  for (std::size_t i = 1; i < y.size(); ++i) EXPECT_GE(y[i - 1] - y[i], kEndLabelHeight - 0.02);
  EXPECT_LE(y[0], kArea.bottom);
  EXPECT_GE(kEndLabelHeight, kLabelFont);
}

TEST(EndLabels, ALeaderJoinsALineToItsLabel) {
  const CheckedSvg svg = drawn({{.text = "a", .x = 400, .y = 100, .series = 3}});
  ASSERT_EQ(svg.of_class("leader").size(), 1U);
  EXPECT_TRUE(svg.of_class("leader")[0].value_of("d").starts_with("M402 100 L600 100 L"));
  EXPECT_EQ(svg.of_class("s3").size(), 1U);
}

TEST(EndLabels, ALeaderFollowsALabelThatMoved) {
  const CheckedSvg svg =
      drawn({{.text = "a", .x = 590, .y = 100}, {.text = "b", .x = 590, .y = 101}});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string path = svg.of_class("leader")[i].value_of("d");
    const double end = std::stod(path.substr(path.rfind(' ')));
    EXPECT_NEAR(svg.numbers("label", "y")[i] - end, 0.35 * kLabelFont, 0.02);
  }
}

TEST(EndLabels, ALineWithoutANameHasNoLabel) {
  EXPECT_TRUE(drawn({{.text = "", .x = 400, .y = 100}}).of_class("leader").empty());
  const std::vector<EndLabel> none = {{.text = ""}}, one = {{.text = "arm"}};
  const std::vector<EndLabel> longest = {{.text = std::string(500, 'm')}};
  EXPECT_LT(end_label_space(none), end_label_space(one));
  EXPECT_LT(end_label_space(longest), kChartWidth / 3);
}

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

}  // namespace end_labels_test
}  // namespace depthgrid
