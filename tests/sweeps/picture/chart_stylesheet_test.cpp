#include "sweeps/picture/chart_stylesheet.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/picture/chart_colours.hpp"
#include "sweeps/picture/chart_text.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace chart_stylesheet_test {

TEST(ChartStylesheet, NothingIsLoadedAndNoTagCanEndIt) {
  const std::string css = chart_stylesheet();
  for (const char* word : {"url(", "@import", "@font-face", "http", "<", "expression("})
    EXPECT_EQ(css.find(word), std::string::npos) << word;
  EXPECT_EQ(occurrences(css, "{"), occurrences(css, "}"));
  EXPECT_EQ(css, chart_stylesheet());
}

TEST(ChartStylesheet, AllColoursAreThere) {
  const std::string css = chart_stylesheet();
  for (const ChartColours& colours : {light_chart_colours(), dark_chart_colours()}) {
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NE(css.find("--chart-s" + std::to_string(i) + ":" + std::string(colours.series[i])),
                std::string::npos);
    }
  }
  for (int i = 0; i < 10; ++i) {
    for (const std::string scale : {"sequential", "diverging"}) {
      const std::string rule = ".chart ." + scale + " .h" + std::to_string(i);
      EXPECT_EQ(occurrences(css, rule + "{"), 1U);
      EXPECT_EQ(occurrences(css, rule + " text{"), 1U);
    }
  }
}

TEST(ChartStylesheet, EveryVariableIsDefinedInBothThemes) {
  const std::string css = chart_stylesheet();
  std::set<std::string> used;
  for (std::size_t at = css.find("var("); at != std::string::npos; at = css.find("var(", at + 1))
    used.insert(css.substr(at + 4, css.find(')', at) - at - 4));
  EXPECT_GE(used.size(), 6U + 8U + 40U);
  for (const std::string& name : used)  // light, dark by the system, dark by the page
    EXPECT_EQ(occurrences(css, name + ":"), 3U) << name;
}

TEST(ChartStylesheet, ThePageCanDecideAndPaperIsLight) {
  const std::string css = chart_stylesheet();
  EXPECT_NE(
      css.find("@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){"),
      std::string::npos);
  EXPECT_NE(css.find("@media screen{:root[data-theme=dark]{"), std::string::npos);
  EXPECT_TRUE(css.starts_with(":root{\n--chart-background:#ffffff"));
  EXPECT_NE(css.find("@media print{"), std::string::npos);
}

TEST(ChartStylesheet, TextsAreAtLeastElevenHigh) {
  const std::string css = chart_stylesheet();
  EXPECT_NE(css.find(".chart .label{font-size:15px}"), std::string::npos);
  EXPECT_NE(css.find(".chart .tick{font-size:14px}"), std::string::npos);
  EXPECT_NE(css.find(".chart .small{font-size:13px}"), std::string::npos);
  EXPECT_GE(kSmallFont, 11);
}

TEST(ChartStylesheet, OnPaperColoursAreNumbers) {
  const std::string css = paper_stylesheet();
  EXPECT_EQ(css.find("var("), std::string::npos) << "what makes PDFs does not read variables";
  EXPECT_EQ(css.find("--chart"), std::string::npos);
  EXPECT_EQ(css.find('@'), std::string::npos);
  EXPECT_EQ(css.find('<'), std::string::npos);
  EXPECT_EQ(occurrences(css, "{"), occurrences(css, "}"));
  const std::string first(light_chart_colours().series[0]);
  EXPECT_NE(css.find(".chart .s0{color:" + first + "}"), std::string::npos);
}

TEST(ChartStylesheet, AFileOfItsOwnHasItsNamespaceSizeAndColours) {
  const std::string file = svg_file("<svg class=\"chart\" viewBox=\"0 0 720 96.5\">\n<g/></svg>\n");
  EXPECT_TRUE(file.starts_with(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"720\" height=\"96.5\" class=\"chart\" viewBox=\"0 0 720 96.5\">\n<style>.chart{"));
  EXPECT_TRUE(file.ends_with(
      "</style>\n<rect width=\"720\" height=\"96.5\" fill=\"#ffffff\"/>\n<g/></svg>\n"));
  EXPECT_THROW(svg_file("<p>"), Error);
}

}  // namespace chart_stylesheet_test
}  // namespace depthgrid
