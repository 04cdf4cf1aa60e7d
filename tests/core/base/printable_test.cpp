#include "core/base/printable.hpp"

#include <gtest/gtest.h>

namespace depthgrid::printable_test {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("Δt=1/L, naïve, 深さ 🙂\n\tx"), "Δt=1/L, naïve, 深さ 🙂\n\tx");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[31mb\r\x07"), "a\\x1b[31mb\\x0d\\x07");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // CSI as one character
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");  // writes from right to left
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // too long a form
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
}

TEST(Printable, WidthIsInColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Δt …"), 4U);
  EXPECT_EQ(display_width("深さ"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // e and an acute accent
}

TEST(Printable, ClipsInTheMiddle) {
  EXPECT_EQ(clipped("hidden=4,s0", 11), "hidden=4,s0");
  EXPECT_EQ(clipped("hidden=4,s0", 8), "hidd…,s0");
  EXPECT_EQ(clipped("深さ深さ深さ", 6), "深…さ");
  EXPECT_EQ(clipped("abc", 1), "…");
  EXPECT_EQ(clipped("abc", 0), "");
  for (std::size_t n = 0; n < 12; ++n) {
    EXPECT_LE(display_width(clipped("a深b深c深d", n)), n);
  }
}

}  // namespace
}  // namespace depthgrid::printable_test
