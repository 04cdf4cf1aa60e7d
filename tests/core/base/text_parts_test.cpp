#include "core/base/text_parts.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace text_parts_test {

using Parts = std::vector<std::string>;

TEST(TextParts, AreWhatStandsBetweenSeparators) {
  EXPECT_EQ(split_at("a|b||c", '|'), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split_at("a|", '|'), Parts{"a"}) << "the end of a part begins no other";
  EXPECT_EQ(split_at("", '|'), Parts{});
  EXPECT_EQ(text_lines("one\n\ntwo\n"), (Parts{"one", "", "two"}));
  EXPECT_EQ(text_words("  one\ttwo \n three"), (Parts{"one", "two", "three"}));
  EXPECT_EQ(text_words(" \n"), Parts{});
}

TEST(TextParts, BlanksAreTakenFromBothEndsAlone) {
  EXPECT_EQ(without_blanks(" \t a b\r\n"), "a b");
  EXPECT_EQ(without_blanks(" \n"), "");
}

}  // namespace text_parts_test
}  // namespace depthgrid
