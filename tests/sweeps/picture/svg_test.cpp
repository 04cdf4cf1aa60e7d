#include "sweeps/picture/svg.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace svg_test {

TEST(Svg, NumbersAreShortestWithTwoDecimals) {
  EXPECT_EQ(svg_number(0), "0");
  EXPECT_EQ(svg_number(12), "12");
  EXPECT_EQ(svg_number(100), "100");
  EXPECT_EQ(svg_number(0.5), "0.5");
  EXPECT_EQ(svg_number(-3.14159), "-3.14");
  EXPECT_EQ(svg_number(2.999), "3");
  EXPECT_EQ(svg_number(-0.001), "0");
  EXPECT_EQ(svg_number(1e-9), "0");
  EXPECT_THROW(svg_number(kNaN), Error);
  EXPECT_THROW(svg_number(std::numeric_limits<double>::infinity()), Error);
}

TEST(Svg, TextCannotLeaveItsPlace) {
  EXPECT_EQ(svg_text("</svg><script>"), "&lt;/svg&gt;&lt;script&gt;");
  EXPECT_EQ(svg_text("a\"b'c&d"), "a&quot;b&#39;c&amp;d");
  EXPECT_EQ(svg_text("&lt;"), "&amp;lt;");
  EXPECT_EQ(svg_text("δ = 5 µs"), "δ = 5 µs");
}

TEST(Svg, CharactersThatReorderOrControlAreShown) {
  for (const std::string code : {"202a", "202b", "202c", "202d", "202e", "2066", "2067", "2068",
                                 "2069", "200e", "200f", "061c"}) {
    const auto point = static_cast<unsigned>(std::stoul(code, nullptr, 16));
    const std::string mark = point < 0x800
                                 ? std::string{static_cast<char>(0xC0 | (point >> 6U)),
                                               static_cast<char>(0x80 | (point & 0x3FU))}
                                 : std::string{static_cast<char>(0xE0 | (point >> 12U)),
                                               static_cast<char>(0x80 | ((point >> 6U) & 0x3FU)),
                                               static_cast<char>(0x80 | (point & 0x3FU))};
    EXPECT_EQ(svg_text("a" + mark + "b"), "a\\u" + code + "b");
  }
  EXPECT_EQ(svg_text(std::string_view("a\0b\x1b[31m\x7f", 9)), "a\\x00b\\x1b[31m\\x7f");
  EXPECT_EQ(svg_text("two\nlines\tand a tab"), "two lines and a tab");
  EXPECT_EQ(svg_text("\xff\xC3"), "\\xff\\xc3");   // no UTF-8
  EXPECT_EQ(svg_text("\xEF\xBF\xBE"), "\\ufffe");  // no character of XML
}

TEST(Svg, TheRootNamesAndDescribesThePicture) {
  ChartText text = some_chart_text();
  text.id = "loss-1";
  text.title = "Loss <2>";
  SvgWriter svg(text, 720, 100.5);
  EXPECT_EQ(svg.finish(),
            "<svg class=\"chart\" viewBox=\"0 0 720 100.5\" role=\"img\" "
            "aria-labelledby=\"loss-1-title loss-1-desc\">\n"
            "<title id=\"loss-1-title\">Loss &lt;2&gt;</title>\n"
            "<desc id=\"loss-1-desc\">What it shows</desc>\n</svg>\n");
}

TEST(Svg, AnIdIsOneWord) {
  for (const char* id : {"", "1a", "a b", "a\"", "-a", "ä"}) {
    ChartText text = some_chart_text();
    text.id = id;
    EXPECT_THROW(SvgWriter(text, 1, 1), Error) << id;
  }
}

TEST(Svg, ElementsNestAndAreClosedAtTheEnd) {
  SvgWriter svg(some_chart_text(), 10, 10);
  svg.open("g", {{"class", "s0"}});
  svg.tooltip("a < b");
  svg.open("g");
  svg.line(0, 1, 2, 3.25, "axis");
  svg.rect(1, 2, 3, 4, "cell");
  svg.close();
  svg.text("cut…", {{"x", 1}, {"y", 2.0}, {"text-anchor", ""}}, "cut in full");
  const std::string out = svg.finish();
  EXPECT_NE(out.find("<g class=\"s0\">\n<title>a &lt; b</title>\n<g>\n"
                     "<line class=\"axis\" x1=\"0\" y1=\"1\" x2=\"2\" y2=\"3.25\"/>\n"
                     "<rect class=\"cell\" x=\"1\" y=\"2\" width=\"3\" height=\"4\"/>\n</g>\n"
                     "<text x=\"1\" y=\"2\"><title>cut in full</title>cut…</text>\n</g>\n</svg>\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(checked_svg(out).fault, "");
}

TEST(Svg, APathIsAbsolute) {
  SvgPath path;
  path.move(1, 2).line(3, 4.5).close().move(0, 0);
  EXPECT_EQ(path.data(), "M1 2 L3 4.5 Z M0 0");
  EXPECT_THROW(path.line(kNaN, 0), Error);
}

TEST(Svg, NothingThatRunsLoadsOrSetsAStyleCanBeWritten) {
  SvgWriter svg(some_chart_text(), 10, 10);
  EXPECT_THROW(svg.open("script"), Error);
  EXPECT_THROW(svg.open("style"), Error);
  EXPECT_THROW(svg.leaf("image", {}), Error);
  EXPECT_THROW(svg.leaf("use", {}), Error);
  EXPECT_THROW(svg.open("foreignObject"), Error);
  for (const char* name : {"style", "onload", "href", "xlink:href", "fill", "id"})
    EXPECT_THROW(svg.leaf("rect", {{name, "red"}}), Error) << name;
  EXPECT_THROW(svg.close(), Error);
}

TEST(Svg, TheCheckOfThesePicturesFindsWhatIsWrong) {
  EXPECT_NE(checked_svg("<svg><g></svg>").fault, "");
  EXPECT_NE(checked_svg("<svg><rect style=\"x\"/></svg>").fault, "");
  EXPECT_NE(checked_svg("<svg><script></script></svg>").fault, "");
  EXPECT_NE(checked_svg("<svg><g onclick=\"x\"></g></svg>").fault, "");
  EXPECT_NE(checked_svg("<svg><g id=\"a\"></g><g id=\"a\"></g></svg>").fault, "");
  EXPECT_NE(checked_svg("<svg><g>").fault, "");
  EXPECT_NE(checked_svg("<g></g>").fault, "");
  EXPECT_EQ(checked_svg("<svg><g class=\"a\"><line x1=\"0\"/></g></svg>").fault, "");
}

}  // namespace svg_test
}  // namespace depthgrid
