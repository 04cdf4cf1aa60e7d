#include "sweeps/page/markdown_page.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace markdown_page_test {

TEST(Markdown, TextIsNeverMarkup) {
  EXPECT_EQ(markdown_text("a*b*, `c`, [d](e), x|y"), "a\\*b\\*, \\`c\\`, \\[d\\](e), x\\|y");
  EXPECT_EQ(markdown_text("<img src=x>"), "&lt;img src=x&gt;");
  EXPECT_EQ(markdown_text("a & b \\ c ~~d~~ $e$"), "a \\& b \\\\ c \\~\\~d\\~\\~ \\$e\\$");
  EXPECT_EQ(markdown_text("final_loss.valid"), "final_loss.valid") << "within a word it is none";
  EXPECT_EQ(markdown_text("_x_"), "\\_x\\_");
  EXPECT_EQ(markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(markdown_text("/home/me/x"), "…/x");
}

TEST(Markdown, TheBeginningOfALineIsNoHeadingAndNoList) {
  EXPECT_EQ(markdown_text("# a"), "\\# a");
  EXPECT_EQ(markdown_text("- a"), "\\- a");
  EXPECT_EQ(markdown_text("1. a"), "1\\. a");
  EXPECT_EQ(markdown_text("1.5"), "1.5");
  EXPECT_EQ(markdown_text("-0.5"), "-0.5");
  EXPECT_EQ(markdown_text("---"), "\\---");
  EXPECT_EQ(markdown_text("6 of 6"), "6 of 6");
}

TEST(Markdown, BlocksAreThoseOfThePage) {
  const Table table{{{"arm"}, {"loss", Align::Right}}, {{"a|b", "1.5"}}};
  std::vector<PagePart> parts(1);
  parts[0].id = "answer";
  parts[0].title = "The answer";
  parts[0].blocks = {PageText{PageText::Kind::Item, "one", "a"},
                     PageText{PageText::Kind::Item, "two"},
                     PageTable{"loss by arm", table, true, {}, "answer-table-1"},
                     PageChart{"answer-means", "Means", "How [it] is read.", "<svg >", table},
                     PageText{PageText::Kind::Command, "depthgrid compare x --by `a`"}};
  EXPECT_EQ(markdown_page(parts, "h_mod"),
            "# h_mod\n\n## The answer\n\n- **a** one\n- two\n\n"
            "*loss by arm* ([numbers](answer-table-1.csv))\n\n"
            "| arm | loss |\n| --- | ---: |\n| a\\|b | 1.5 |\n\n"
            "![How \\[it\\] is read.](answer-means.svg)\n\n"
            "*Means* ([numbers](answer-means.csv))\n\n"
            "By `` depthgrid compare x --by `a` ``\n\n");
}

}  // namespace markdown_page_test
}  // namespace depthgrid
