#include "sweeps/page/html.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace html_test {

TEST(Html, TextIsNeverMarkup) {
  EXPECT_EQ(html_text("a < b & c > \"d\" 'e'"), "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(html_text("</script><script>"), "&lt;/script&gt;&lt;script&gt;");
  EXPECT_EQ(html_text("\u202etxt.exe"), "\\u202etxt.exe");
  EXPECT_EQ(html_text("x\x1b[31m"), "x\\x1b[31m");
  EXPECT_EQ(html_text("η² ± 0.1"), "η² ± 0.1");
  EXPECT_EQ(html_text("of /home/me/x.txt"), "of …/x.txt");
}

TEST(Html, FoldersOfThisMachineAreLeftOut) {
  EXPECT_EQ(without_folders("/home/me/data/x.txt"), "…/x.txt");
  EXPECT_EQ(without_folders("path=/home/me/x, lr=0.1"), "path=…/x, lr=0.1");
  EXPECT_EQ(without_folders("'/a b/c'"), "'…/a b/c'") << "a blank ends what is surely a path";
  EXPECT_EQ(without_folders("~/x.txt and ~/y/z"), "…/x.txt and …/z");
  EXPECT_EQ(without_folders("file:///srv/data/x"), "file:…/x");
  for (const char* same : {"nats/token", "1/L", "a / b", "/", "~", "scale=1/L", "", "and/or"}) {
    EXPECT_EQ(without_folders(same), same);
  }
}

TEST(Html, TablesHaveTitlesACaptionAndNumbersToTheRight) {
  const Table table{{{"arm"}, {"loss", Align::Right}}, {{"a<b", "1.5"}}};
  const std::string html = html_table(table, "loss by arm");
  EXPECT_NE(html.find("<caption>loss by arm</caption>"), std::string::npos);
  EXPECT_NE(html.find("<th>arm</th><th class=\"number\">loss</th>"), std::string::npos);
  EXPECT_NE(html.find("<td>a&lt;b</td><td class=\"number\">1.5</td>"), std::string::npos);
  EXPECT_NE(html_csv(table).find("arm,loss\na&lt;b,1.5\n"), std::string::npos);
}

TEST(Html, NumbersAreFoldedWithTheirCommand) {
  const Table table{{{"arm"}}, {{"a"}}};
  EXPECT_EQ(html_csv(table, "depthgrid compare 'a b'"),
            "<details><summary>numbers as CSV</summary><p class=\"note\">By <code>depthgrid "
            "compare &#39;a b&#39;</code></p>\n<pre tabindex=\"0\">arm\na\n</pre></details>\n");
  EXPECT_EQ(html_folded("a<b", "<p>x</p>"),
            "<details><summary>a&lt;b</summary><p>x</p></details>\n");
}

TEST(Html, NothingInAScriptsJsonEndsTheScript) {
  EXPECT_EQ(script_json("{\"a\":\"</script>&\"}"), "{\"a\":\"\\u003c/script\\u003e\\u0026\"}");
}

/// RFC 4648, section 10.
TEST(Html, Base64IsThatOfTheStandard) {
  const auto of = [](const std::string& text) {
    return base64(std::vector<std::uint8_t>(text.begin(), text.end()));
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foob"), "Zm9vYg==");
  EXPECT_EQ(of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::vector<std::uint8_t>{0xFB, 0xFF, 0xFE}), "+//+");
}

}  // namespace html_test
}  // namespace depthgrid
