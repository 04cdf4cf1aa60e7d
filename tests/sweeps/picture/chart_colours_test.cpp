#include "sweeps/picture/chart_colours.hpp"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace chart_colours_test {

TEST(ChartColours, ContrastIsThatOfWcag) {
  // Of the WebAIM contrast checker.
  EXPECT_NEAR(colour_contrast("#000000", "#ffffff"), 21, 1e-12);
  EXPECT_NEAR(colour_contrast("#777777", "#ffffff"), 4.48, 0.005);
  EXPECT_NEAR(colour_contrast("#ffffff", "#0000ff"), 8.59, 0.005);
  EXPECT_NEAR(colour_contrast("#ff0000", "#ffffff"), 4.00, 0.005);
  EXPECT_EQ(colour_contrast("#123456", "#123456"), 1);
  for (const char* bad : {"", "red", "#fff", "#GG0000", "#12345", "1234567"})
    EXPECT_THROW(colour_contrast(bad, "#ffffff"), Error) << bad;
}

TEST(ChartColours, MarksAndTextsStandOutFromTheirBackground) {
  for (const ChartColours& colours : {light_chart_colours(), dark_chart_colours()}) {
    for (const std::string_view colour : colours.series)
      EXPECT_GE(colour_contrast(colour, colours.background), 3) << colour;
    EXPECT_GE(colour_contrast(colours.axis, colours.background), 3);
    EXPECT_GE(colour_contrast(colours.zero, colours.background), 3);
    EXPECT_GE(colour_contrast(colours.text, colours.background), 4.5);
    EXPECT_GE(colour_contrast(colours.muted, colours.background), 4.5);
    EXPECT_EQ(std::set(colours.series.begin(), colours.series.end()).size(), 8U);
  }
}

TEST(ChartColours, NumbersInCellsCanBeRead) {
  for (const ChartColours& colours : {light_chart_colours(), dark_chart_colours()}) {
    for (const auto& scale : {colours.sequential, colours.diverging}) {
      for (const std::string_view colour : scale)
        EXPECT_GE(colour_contrast(colour, ink_on(colour)), 4.5) << colour;
      EXPECT_EQ(std::set(scale.begin(), scale.end()).size(), 10U);
    }
  }
}

TEST(ChartColours, ASequentialScaleLeavesTheBackgroundEvenly) {
  for (const ChartColours& colours : {light_chart_colours(), dark_chart_colours()}) {
    for (std::size_t i = 1; i < 10; ++i) {
      EXPECT_GT(colour_contrast(colours.sequential[i], colours.background),
                colour_contrast(colours.sequential[i - 1], colours.background))
          << i;
    }
    for (std::size_t i = 1; i < 5; ++i) {
      EXPECT_LT(colour_contrast(colours.diverging[i], colours.background),
                colour_contrast(colours.diverging[i - 1], colours.background));
      EXPECT_GT(colour_contrast(colours.diverging[i + 5], colours.background),
                colour_contrast(colours.diverging[i + 4], colours.background));
    }
  }
}

}  // namespace chart_colours_test
}  // namespace depthgrid
