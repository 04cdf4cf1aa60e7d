#include "sweeps/picture/small_multiples.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace small_multiples_test {

MultiplePanel panel(const std::string& title, double height) {
  return {.title = title,
          .curves = {{.label = "off", .x = {0, 10}, .mean = {0, height}, .low = {}, .high = {}},
                     {.label = "on",
                      .x = {0, 10},
                      .mean = {height, 0},
                      .low = {height - 1, -1},
                      .high = {height + 1, 1},
                      .series = 1}}};
}

TEST(SmallMultiples, PanelsShareTheirAxes) {
  SmallMultiplesData data;
  data.panels = {panel("a", 5), panel("b", 5), panel("c", 9), panel("d", 2)};
  const CheckedSvg svg = checked_svg(small_multiples(data, some_chart_text()));
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(svg.of_class("curve").size(), 8U);
  EXPECT_EQ(svg.of_class("band").size(), 4U);
  const auto heights = [&](std::size_t curve) {  // "Mx y Lx y": both y
    const std::string d = svg.of_class("curve")[curve].value_of("d");
    const std::size_t middle = d.find(" L");
    return std::pair(d.substr(d.find(' '), middle - d.find(' ')), d.substr(d.rfind(' ')));
  };
  EXPECT_EQ(heights(0), heights(2));              // equal data, one row: equal heights
  EXPECT_EQ(heights(0).first, heights(4).first);  // all begin at 0
  EXPECT_NE(heights(0).second, heights(4).second);
}

TEST(SmallMultiples, TheKeyNamesEverySeriesOnce) {
  SmallMultiplesData data;
  data.panels = {panel("a", 5), panel("b", 5)};
  const std::string text = small_multiples(data, some_chart_text());
  EXPECT_EQ(checked_svg(text).of_class("sample").size(), 2U);
  EXPECT_EQ(occurrences(text, ">off</text>"), 1U);
  EXPECT_NE(checked_svg(text).of_class("sample")[0].value_of("stroke-dasharray"),
            checked_svg(text).of_class("sample")[1].value_of("stroke-dasharray"));
}

TEST(SmallMultiples, OnlyTheOuterPanelsHaveLabelsOfTicks) {
  const auto ticks = [](std::size_t panels, std::string_view anchor) {
    SmallMultiplesData data;
    data.panels.assign(panels, panel("a", 5));
    const CheckedSvg svg = checked_svg(small_multiples(data, some_chart_text()));
    return std::ranges::count_if(svg.of_class("tick"), [&](const CheckedTag& tag) {
      return tag.value_of("text-anchor") == anchor;
    });
  };
  EXPECT_GT(ticks(3, "middle"), 0);
  EXPECT_EQ(ticks(6, "middle"), ticks(3, "middle"));  // below the lower row
  EXPECT_EQ(ticks(4, "middle"), ticks(3, "middle"));  // below the lowest of each column
  EXPECT_EQ(ticks(6, "end"), 2 * ticks(3, "end"));    // at the left of each row
}

TEST(SmallMultiples, APanelWithoutDataSaysSo) {
  SmallMultiplesData data;
  data.panels = {panel("a", 5), {.title = "never trained", .curves = {}}};
  const std::string text = small_multiples(data, some_chart_text());
  EXPECT_EQ(occurrences(text, "no data"), 1U);
  EXPECT_EQ(checked_svg(text).of_class("curve").size(), 2U);
  data.columns = 5;
  EXPECT_THROW(small_multiples(data, some_chart_text()), Error);
}

}  // namespace small_multiples_test
}  // namespace depthgrid
