#include "core/data/labels/segments.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace segments_test {

using Texts = std::vector<std::string>;

Texts cut(std::string_view text, Terminator kind) {
  Texts all;
  std::int64_t at = 0;
  for (const TextSegment& part : segments(text, kind)) {
    EXPECT_EQ(part.begin, at) << "segments follow each other";
    EXPECT_LT(part.begin, part.end);
    const auto begin = static_cast<std::size_t>(part.begin);
    const auto end = static_cast<std::size_t>(part.end);
    all.emplace_back(text.substr(begin, end - begin));
    at = part.end;
  }
  EXPECT_EQ(at, static_cast<std::int64_t>(text.size())) << "together they are the text";
  return all;
}

TEST(TextSegments, SpacedOnesEndBehindTheSpaceAfterATerminatorThatStandsAlone) {
  constexpr Terminator kKind = Terminator::Spaced;
  EXPECT_EQ(cut("He came . She left ! Why ? \n", kKind),
            (Texts{"He came . ", "She left ! ", "Why ? ", "\n"}));
  EXPECT_EQ(cut(" 1 @.@ 5 of the U.S. army ", kKind), (Texts{" 1 @.@ 5 of the U.S. army "}));
  EXPECT_EQ(cut(" = A heading = \n a", kKind), (Texts{" = A heading = \n", " a"}));
  EXPECT_EQ(cut("It ends . ", kKind), (Texts{"It ends . "}));
  EXPECT_EQ(cut("It ends .", kKind), (Texts{"It ends ."})) << "not complete";
  EXPECT_EQ(cut("\n\n", kKind), (Texts{"\n", "\n"}));
  EXPECT_TRUE(cut("", kKind).empty());
}

TEST(TextSegments, MatchesThatOverlapAllCount) {
  EXPECT_EQ(cut(" . . ", Terminator::Spaced), (Texts{" . ", ". "}));
  EXPECT_EQ(cut(" .\n. x", Terminator::Spaced), (Texts{" .\n", ". ", "x"}));
  EXPECT_EQ(cut(".\n\n", Terminator::Raw), (Texts{".\n", "\n"}));
}

TEST(TextSegments, RawOnesEndBehindTheSpaceAfterATerminatorAndItsClosingMarks) {
  constexpr Terminator kKind = Terminator::Raw;
  EXPECT_EQ(cut("He came. She left?! (Why?) Go.", kKind),
            (Texts{"He came. ", "She left?! ", "(Why?) ", "Go."}));
  EXPECT_EQ(cut("\"Go.\"  Then ['No!'] x", kKind), (Texts{"\"Go.\" ", " Then ['No!'] ", "x"}));
  EXPECT_EQ(cut("3.14 is a.b", kKind), (Texts{"3.14 is a.b"}));
  EXPECT_EQ(cut("the U.S. army", kKind), (Texts{"the U.S. ", "army"})) << "accepted";
  EXPECT_EQ(cut("Go.\u201d Then", kKind), (Texts{"Go.\u201d Then"})) << "ASCII marks only";
  EXPECT_EQ(cut("Go.\" ' Then", kKind), (Texts{"Go.\" ", "' Then"}));
}

TEST(TextSegments, WhiteSpaceIsThatOfUnicodeAndBytesThatAreNoTextAreNone) {
  EXPECT_EQ(cut("a\u00A0.\u3000b", Terminator::Spaced), (Texts{"a\u00A0.\u3000", "b"}));
  EXPECT_EQ(cut("a.\u2028b", Terminator::Raw), (Texts{"a.\u2028", "b"}));
  EXPECT_EQ(cut("a\xA0. b", Terminator::Spaced), (Texts{"a\xA0. b"}));
  EXPECT_EQ(cut("a .\xE3\x80 b", Terminator::Spaced), (Texts{"a .\xE3\x80 b"}));
}

bool is_stop(char c) {
  return c == '.' || c == '!';
}

bool is_space(char c) {
  return c == ' ' || c == '\n';
}

/// Whether a pattern ends at the end of `head`, read backwards; alphabet of the next test.
bool completes(std::string_view head, Terminator kind) {
  const std::size_t n = head.size();
  if (head.ends_with('\n')) return true;
  if (!is_space(head.back())) return false;
  if (kind == Terminator::Spaced) return n >= 3 && is_stop(head[n - 2]) && is_space(head[n - 3]);
  std::size_t at = n - 1;
  while (at > 0 && head[at - 1] == '"') --at;
  return at > 0 && is_stop(head[at - 1]);
}

/// All texts of up to six of these characters.
Texts all_short_texts() {
  Texts all = {""};
  for (std::size_t first = 0, length = 1; length <= 6; ++length) {
    const std::size_t last = all.size();
    for (; first < last; ++first) {
      for (const char c : {'a', ' ', '.', '"', '\n'}) all.push_back(all[first] + c);
    }
  }
  return all;
}

TEST(TextSegments, EndWhereAndOnlyWhereThePatternIsComplete) {
  for (const Terminator kind : {Terminator::Spaced, Terminator::Raw}) {
    for (const std::string& text : all_short_texts()) {
      std::vector<TextSegment> expected;
      std::int64_t begin = 0;
      for (std::size_t end = 1; end <= text.size(); ++end) {
        if (end < text.size() && !completes(std::string_view(text).substr(0, end), kind)) continue;
        expected.push_back({begin, static_cast<std::int64_t>(end)});
        begin = static_cast<std::int64_t>(end);
      }
      ASSERT_EQ(segments(text, kind), expected) << ::testing::PrintToString(text);
    }
  }
}

TEST(TextSegments, EndsInAPrefixDoNotDependOnWhatFollows) {
  const std::string text =
      "a\u00A0.\u2003b . c\n.\u3000\xFF . \xE2\x80 .\" d.\xE2\x80\xA8"
      "e?)\xC2\x85"
      "f . ";
  for (const Terminator kind : {Terminator::Spaced, Terminator::Raw}) {
    const std::vector<TextSegment> whole = segments(text, kind);
    EXPECT_GT(whole.size(), 3U);
    for (std::size_t size = 0; size <= text.size(); ++size) {
      std::vector<std::int64_t> expected, ends;
      for (const TextSegment& part : whole) {
        if (part.end < static_cast<std::int64_t>(size)) expected.push_back(part.end);
      }
      if (size > 0) expected.push_back(static_cast<std::int64_t>(size));  // perhaps unfinished
      for (const TextSegment& part : segments(std::string_view(text).substr(0, size), kind)) {
        ends.push_back(part.end);
      }
      EXPECT_EQ(ends, expected) << "the first " << size << " bytes";
    }
  }
}

TEST(TextSegments, TerminatorsHaveTheWordsOfTheirLeaf) {
  EXPECT_EQ(terminator("spaced"), Terminator::Spaced);
  EXPECT_EQ(terminator("raw"), Terminator::Raw);
  EXPECT_THROW(terminator("Raw"), Error);
  EXPECT_THROW(terminator(""), Error);
}

}  // namespace segments_test
}  // namespace depthgrid
