#include "sweeps/page/latex_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace depthgrid {
namespace latex_text_test {

TEST(LatexText, NothingIsACommand) {
  EXPECT_EQ(latex_text("a_b & 5 % of $x #1 {y}"), "a\\_b \\& 5 \\% of \\$x \\#1 \\{y\\}");
  EXPECT_EQ(latex_text("\\input{x}"), "\\textbackslash{}input\\{x\\}");
  EXPECT_EQ(latex_text("^~<>|"),
            "\\textasciicircum{}\\textasciitilde{}\\textless{}\\textgreater{}\\textbar{}");
  EXPECT_EQ(latex_text("'\"`"), "\\textquotesingle{}\\symbol{34}\\textasciigrave{}");
  EXPECT_EQ(latex_text("a\nb\tc"), "a b c") << "an empty line ends a paragraph";
}

/// After the \\ of a row's end, [ and * would begin its options.
TEST(LatexText, NothingIsAnOptionOfTheRowBefore) {
  EXPECT_EQ(latex_text("[-0.1, +0.2]"), "{[}\\ensuremath{-}0.1, +0.2{]}");
  EXPECT_EQ(latex_text("*"), "{*}");
}

TEST(LatexText, AMinusIsNoHyphen) {
  EXPECT_EQ(latex_text("-0.5"), "\\ensuremath{-}0.5");
  EXPECT_EQ(latex_text("-.05"), "\\ensuremath{-}.05");
  EXPECT_EQ(latex_text("1e-5"), "1e-5");
  EXPECT_EQ(latex_text("sign-flip"), "sign-flip");
  EXPECT_EQ(latex_text("--by"), "-{}-by") << "two would be a dash";
  EXPECT_EQ(latex_text("-"), "-");
}

TEST(LatexText, SignsAreThoseOfMathematics) {
  EXPECT_EQ(latex_text("2 ± 1"), "2 \\ensuremath{\\pm} 1");
  EXPECT_EQ(latex_text("Δt, η², −1"),
            "\\ensuremath{\\Delta}t, \\ensuremath{\\eta}\\ensuremath{^{2}}, \\ensuremath{-}1");
  EXPECT_EQ(latex_text("é"), "é");
  EXPECT_EQ(latex_text("中"), "U+4E2D");
  EXPECT_EQ(latex_text("\U0001F600"), "U+1F600");
}

TEST(LatexText, FoldersAndOrderOfALineAreAsInEveryFormat) {
  EXPECT_EQ(latex_text("/home/me/x.txt"), "\\ldots{}/x.txt");
  EXPECT_EQ(latex_text("\u202ex"), "\\textbackslash{}u202ex");
}

}  // namespace latex_text_test
}  // namespace depthgrid
