#include "sweeps/picture/series_marks.hpp"

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace series_marks_test {

TEST(SeriesMarks, NoTwoOfManySeriesLookTheSame) {
  std::set<std::pair<std::string, std::string>> lines;
  std::set<std::pair<std::string, MarkerShape>> marks;
  for (std::size_t i = 0; i < 64; ++i) {
    lines.insert({series_class(i), std::string(series_dashes(i))});
    marks.insert({series_class(i), series_marker(i)});
  }
  EXPECT_EQ(lines.size(), 64U);
  EXPECT_EQ(marks.size(), 64U);
  EXPECT_EQ(series_class(9), "s1");
  EXPECT_EQ(series_dashes(0), "");
}

TEST(SeriesMarks, EightSeriesDifferWithoutTheirColours) {
  std::set<std::string> dashes, shapes;
  for (std::size_t i = 0; i < 8; ++i) {
    dashes.insert(std::string(series_dashes(i)));
    SvgWriter svg(some_chart_text(), 10, 10);
    draw_marker(svg, series_marker(i), 5, 5, 4, "mean");
    shapes.insert(svg.finish());
    EXPECT_EQ(series_of(series_marker(i)), i);
  }
  EXPECT_EQ(dashes.size(), 8U);
  EXPECT_EQ(shapes.size(), 8U);
}

TEST(SeriesMarks, AMarkIsOneElementAroundItsPlace) {
  SvgWriter svg(some_chart_text(), 10, 10);
  draw_marker(svg, MarkerShape::Circle, 5, 6, 4, "mean");
  draw_marker(svg, MarkerShape::Square, 5, 6, 10, "mean");
  const std::string out = svg.finish();
  EXPECT_NE(out.find("<circle class=\"mean\" cx=\"5\" cy=\"6\" r=\"4\"/>"), std::string::npos);
  EXPECT_NE(out.find("<path class=\"mean\" d=\"M-4 -3 L14 -3 L14 15 L-4 15 Z\"/>"),
            std::string::npos);
}

}  // namespace series_marks_test
}  // namespace depthgrid
