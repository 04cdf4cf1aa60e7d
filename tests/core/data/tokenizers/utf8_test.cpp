#include "core/data/tokenizers/utf8.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace utf8_test {

std::int32_t decoded(std::string_view text) {
  std::size_t at = 0;
  const std::int32_t code = next_code_point(text, at);
  return at == text.size() || code < 0 ? code : -2;
}

TEST(Utf8, DecodesOneCodePointOfEachLength) {
  EXPECT_EQ(decoded("A"), 0x41);
  EXPECT_EQ(decoded("\xC3\xA9"), 0xE9);
  EXPECT_EQ(decoded("\xE2\x82\xAC"), 0x20AC);
  EXPECT_EQ(decoded("\xF0\x9F\x98\x80"), 0x1F600);
  EXPECT_EQ(decoded("\xF4\x8F\xBF\xBF"), 0x10FFFF);
}

TEST(Utf8, BytesThatAreNoTextAreReplacedOneByOne) {
  EXPECT_EQ(with_valid_utf8("a\xC3\xA9 \xE2\x82"), "a\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(with_valid_utf8("\xFFz"), "\xEF\xBF\xBDz");
  EXPECT_EQ(with_valid_utf8(""), "");
}

TEST(Utf8, RefusesMalformedSequences) {
  EXPECT_EQ(decoded("\x80"), -1);              // continuation alone
  EXPECT_EQ(decoded("\xC3"), -1);              // cut off
  EXPECT_EQ(decoded("\xC1\x81"), -1);          // overlong A
  EXPECT_EQ(decoded("\xE0\x82\xAC"), -1);      // overlong, three bytes
  EXPECT_EQ(decoded("\xED\xA0\x80"), -1);      // surrogate
  EXPECT_EQ(decoded("\xF4\x90\x80\x80"), -1);  // above U+10FFFF
  EXPECT_EQ(decoded("\xC3\x41"), -1);          // no continuation
}

TEST(Utf8, AppendIsTheInverseOfDecoding) {
  for (const std::uint32_t code :
       {0x0U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFDU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(decoded(text), static_cast<std::int32_t>(code));
  }
}

TEST(Utf8, TheMessageNamesPlaceByteAndPosition) {
  const std::string message =
      test::message_of<UserError>([] { require_utf8("one\ntw\xFFo\n", "corpus.txt"); });
  EXPECT_NE(message.find("corpus.txt"), std::string::npos) << message;
  EXPECT_NE(message.find("0xff at offset 6 (line 2, byte 3 of the line)"), std::string::npos)
      << message;
  EXPECT_NO_THROW(
      require_utf8("Stra\xC3\x9F"
                   "e\n",
                   "corpus.txt"));
}

TEST(Utf8, WhiteSpaceIsThatOfStrip) {
  for (const std::int32_t c : {0x20, 0x09, 0x0A, 0x1C, 0x85, 0xA0, 0x2003, 0x3000}) {
    EXPECT_TRUE(is_white_space(c)) << c;
  }
  for (const std::int32_t c : {0x41, 0x00, 0x200B, 0xFEFF, -1})
    EXPECT_FALSE(is_white_space(c)) << c;
}

}  // namespace utf8_test
}  // namespace depthgrid
