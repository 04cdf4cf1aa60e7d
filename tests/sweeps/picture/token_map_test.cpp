#include "sweeps/picture/token_map.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace token_map_test {

TokenMapData two_layers() {
  return {.layers = {"layer 1", "layer 3"}, .positions = 4, .executed = {1, 0, 0, 1, 0, 0, 0, 1}};
}

TEST(TokenMap, ABlockIsWhatALayerExecutesAndALineWhatItSkips) {
  const std::string text = token_map(two_layers(), some_chart_text());
  const CheckedSvg svg = checked_svg(text);
  EXPECT_EQ(svg.fault, "");
  const auto blocks = svg.of_class("bar"), lines = svg.of_class("axis");
  ASSERT_EQ(blocks.size(), 3U) << "one path a layer, and the key";
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(occurrences(blocks[0].value_of("d"), "Z"), 2U);
  EXPECT_EQ(occurrences(blocks[1].value_of("d"), "Z"), 1U);
  EXPECT_EQ(occurrences(lines[0].value_of("d"), "M"), 2U);
  EXPECT_EQ(occurrences(lines[1].value_of("d"), "M"), 3U);
  EXPECT_NE(svg.content.find("executed"), std::string::npos) << "the key says what they are";
  EXPECT_NE(svg.content.find("skipped"), std::string::npos);
}

TEST(TokenMap, EachTokenSaysWhichLayersExecuteIt) {
  TokenMapData data = two_layers();
  const std::string positions = token_map(data, some_chart_text());
  EXPECT_NE(positions.find("<title>position 0: executed by layer 1</title>"), std::string::npos);
  EXPECT_NE(positions.find("<title>position 1: skipped by all</title>"), std::string::npos);
  EXPECT_NE(positions.find("<title>position 3: executed by layer 1, layer 3</title>"),
            std::string::npos);
  data.tokens = {"The", " ", "</script>", "\xE2\x80\xAE\x01"};
  const std::string texts = token_map(data, some_chart_text());
  const CheckedSvg svg = checked_svg(texts);
  EXPECT_EQ(svg.fault, "");
  EXPECT_EQ(texts.find("</script>"), std::string::npos);
  EXPECT_NE(texts.find("position 2, &#39;&lt;/script&gt;&#39;: skipped by all"), std::string::npos);
  EXPECT_NE(texts.find("\\u202e"), std::string::npos);
  EXPECT_NE(texts.find(">The</text>"), std::string::npos);
  EXPECT_NE(texts.find(">␣</text>"), std::string::npos) << "white space is seen";
}

/// Tokens are as wide as their text, and flow into lines within the picture.
TEST(TokenMap, ALongSequenceHasSeveralLines) {
  TokenMapData data;
  data.layers = {"1", "2", "3"};
  data.positions = 200;
  data.executed.assign(600, 1);
  const CheckedSvg plain = checked_svg(token_map(data, some_chart_text()));
  EXPECT_EQ(plain.of_class("hit").size(), 200U);
  const std::size_t lines = (plain.of_class("bar").size() - 1) / 3;
  EXPECT_GT(lines, 1U);
  data.tokens.assign(200, "a word");
  const CheckedSvg worded = checked_svg(token_map(data, some_chart_text()));
  EXPECT_GT((worded.of_class("bar").size() - 1) / 3, 2 * lines);
  for (const CheckedTag& hit : worded.of_class("hit")) {
    EXPECT_LE(std::stod(hit.value_of("x")) + std::stod(hit.value_of("width")), kChartWidth);
  }
}

TEST(TokenMap, SizesHaveToAgree) {
  TokenMapData data = two_layers();
  data.executed.pop_back();
  EXPECT_THROW(token_map(data, some_chart_text()), Error);
  data = two_layers();
  data.tokens = {"one"};
  EXPECT_THROW(token_map(data, some_chart_text()), Error);
}

}  // namespace token_map_test
}  // namespace depthgrid
