#include "sweeps/picture/heat_map.hpp"

#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace heat_map_test {

HeatMapData small_map() {
  return {.rows = {"a", "b"},
          .columns = {"p", "q", "r"},
          .values = {0, 0.5, 1, 0.26, kNaN, std::numeric_limits<double>::infinity()},
          .value_label = "gate"};
}

HeatMapData large_map(std::size_t rows, std::size_t columns) {
  HeatMapData out;
  for (std::size_t r = 0; r < rows; ++r) out.rows.push_back("layer " + std::to_string(r));
  for (std::size_t c = 0; c < columns; ++c) out.columns.push_back(std::to_string(c));
  for (std::size_t i = 0; i < rows * columns; ++i) out.values.push_back(static_cast<double>(i));
  return out;
}

TEST(HeatMap, LevelsAreTenthsOfTheRange) {
  EXPECT_EQ(heat_level(0, 0, 1), 0);
  EXPECT_EQ(heat_level(0.099, 0, 1), 0);
  EXPECT_EQ(heat_level(0.25, 0, 1), 2);
  EXPECT_EQ(heat_level(0.95, 0, 1), 9);
  EXPECT_EQ(heat_level(1, 0, 1), 9);
  EXPECT_EQ(heat_level(0, -1, 1), 5);
  EXPECT_EQ(heat_level(-0.01, -1, 1), 4);
  EXPECT_EQ(heat_level(7, 7, 7), 4);
  EXPECT_EQ(heat_level(0.5e308, -1e308, 1e308), 7);
}

TEST(HeatMap, CellsHaveTheirLevelAndTheirNumber) {
  const std::string text = heat_map(small_map(), some_chart_text());
  const CheckedSvg svg = checked_svg(text);
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("cell").size(), 6U);
  EXPECT_EQ(svg.of_class("missing").size(), 2U);
  EXPECT_EQ(svg.of_class("hatch").size(), 2U);
  EXPECT_EQ(svg.of_class("h0").size(), 2U);  // the cell and the key
  EXPECT_EQ(svg.of_class("h9").size(), 2U);
  EXPECT_EQ(svg.of_class("h5").size(), 2U);
  EXPECT_EQ(svg.of_class("key").size(), 10U);
  EXPECT_NE(text.find("<title>a, q: 0.5</title>"), std::string::npos);
  EXPECT_NE(text.find(">0.50</text>"), std::string::npos);
  EXPECT_NE(text.find(">0.26</text>"), std::string::npos);
  EXPECT_NE(text.find(">–</text>"), std::string::npos);
  EXPECT_NE(text.find(">∞</text>"), std::string::npos);
}

TEST(HeatMap, ADivergingScaleIsEquallyWideOnBothSides) {
  HeatMapData data = {.rows = {"a"},
                      .columns = {"p", "q", "r"},
                      .values = {-1, 0.1, 4},
                      .scale = HeatScale::Diverging};
  const CheckedSvg up = checked_svg(heat_map(data, some_chart_text()));
  EXPECT_EQ(up.of_class("diverging").size(), 1U);
  EXPECT_EQ(up.of_class("h3").size(), 2U);  // -1 of -4 … 4
  EXPECT_EQ(up.of_class("h5").size(), 2U);
  EXPECT_NE(up.content.find("-4"), std::string::npos);
  data.values = {-4, 0.1, 1};
  const CheckedSvg down = checked_svg(heat_map(data, some_chart_text()));
  EXPECT_EQ(down.of_class("h6").size(), 2U);  // 1 of -4 … 4
  EXPECT_EQ(down.of_class("h0").size(), 2U);
}

TEST(HeatMap, ItsColoursReachAsFarAsThoseOfItsNeighbours) {
  HeatMapData data = {.rows = {"a"}, .columns = {"p", "q"}, .values = {0, 1}, .reach = {-1, 3}};
  const CheckedSvg svg = checked_svg(heat_map(data, some_chart_text()));
  EXPECT_EQ(svg.of_class("h2").size(), 2U);  // 0 of -1 … 3, and the key
  EXPECT_EQ(svg.of_class("h5").size(), 2U);
  EXPECT_EQ(svg.of_class("h9").size(), 1U);
  data.scale = HeatScale::Diverging;
  EXPECT_EQ(checked_svg(heat_map(data, some_chart_text())).of_class("h6").size(), 2U)
      << "1 of -3 … 3";
  data.reach = {0.25, 0.5};
  data.scale = HeatScale::Sequential;
  EXPECT_EQ(checked_svg(heat_map(data, some_chart_text())).of_class("h9").size(), 2U)
      << "its own values go further";
}

TEST(HeatMap, EqualValuesAndOneCellHaveAColour) {
  HeatMapData data = {.rows = {"a"}, .columns = {"p"}, .values = {-0.0}};
  EXPECT_EQ(checked_svg(heat_map(data, some_chart_text())).of_class("h4").size(), 2U);
  data.values = {-0.00001};
  EXPECT_EQ(checked_svg(heat_map(data, some_chart_text())).fault, "");
}

TEST(HeatMap, HatchingStaysInItsCell) {
  const CheckedSvg svg = checked_svg(heat_map(small_map(), some_chart_text()));
  const CheckedTag cell = svg.of_class("cell")[4];  // the first of the two that have none
  const double left = std::stod(cell.value_of("x")), top = std::stod(cell.value_of("y"));
  const double right = left + std::stod(cell.value_of("width"));
  const double bottom = top + std::stod(cell.value_of("height"));
  std::istringstream path(svg.of_class("hatch")[0].value_of("d"));
  std::size_t corners = 0;
  for (std::string x, y; path >> x >> y; ++corners) {
    EXPECT_GE(std::stod(x.substr(1)), left - 0.02);
    EXPECT_LE(std::stod(x.substr(1)), right + 0.02);
    EXPECT_GE(std::stod(y), top - 0.02);
    EXPECT_LE(std::stod(y), bottom + 0.02);
  }
  EXPECT_GT(corners, 20U);
}

TEST(HeatMap, NumbersAndLabelsThatDoNotFitAreLeftToTheTooltips) {
  const CheckedSvg svg = checked_svg(heat_map(large_map(80, 120), some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("cell").size(), 9600U);
  EXPECT_TRUE(svg.of_class("small").size() <= 3);  // of the key alone
  EXPECT_LT(svg.of_class("tick").size(), 90U);
  EXPECT_NE(svg.content.find("layer 79, 119: 9599"), std::string::npos);
}

/// Room that is computed from a width and back is not smaller than it.
TEST(HeatMap, LabelsThatFitAreNeverCut) {
  for (int length = 1; length <= 12; ++length) {
    for (const char letter : {'1', 'i', 'W', 'a'}) {
      const std::string label(static_cast<std::size_t>(length), letter);
      const HeatMapData data = {.rows = {label, label}, .columns = {"p"}, .values = {0, 1}};
      EXPECT_EQ(heat_map(data, some_chart_text()).find("…"), std::string::npos) << label;
    }
  }
}

TEST(HeatMap, SizesHaveToAgree) {
  HeatMapData data = small_map();
  data.values.pop_back();
  EXPECT_THROW(heat_map(data, some_chart_text()), Error);
}

TEST(HeatMap, WithoutAFiniteValueThereIsNoData) {
  HeatMapData data = {.rows = {"a"}, .columns = {"p"}, .values = {kNaN}};
  EXPECT_NE(heat_map(data, some_chart_text()).find("no data"), std::string::npos);
}

}  // namespace heat_map_test
}  // namespace depthgrid
