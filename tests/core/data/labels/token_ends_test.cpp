#include "core/data/labels/token_ends.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace token_ends_test {

using Ends = std::vector<std::int64_t>;
using Ids = std::vector<std::uint32_t>;

std::unique_ptr<Tokenizer> made(const std::string& kind, std::string_view train) {
  return make_tokenizer({kind, 50, {}}, train);
}

Ends ends_of(const std::string& kind, std::string_view text, std::string_view train) {
  const auto tokenizer = made(kind, train);
  return token_ends(kind, *tokenizer, text, tokenizer->encode(text));
}

constexpr const char* kWide = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";  // 1, 2, 3, 4, 1 bytes

TEST(TokenEnds, AreBytesOfByteAndCharactersOfTheOthers) {
  EXPECT_EQ(ends_of("byte", "a\xC3\xA9", ""), (Ends{1, 2, 3}));
  EXPECT_EQ(ends_of("byte", "\xFF\xFE", ""), (Ends{1, 2}));
  EXPECT_EQ(ends_of("char256", kWide, ""), (Ends{1, 3, 6, 10, 11})) << "also those above U+00FF";
  EXPECT_EQ(ends_of("char", kWide, "az"), (Ends{1, 3, 6, 10, 11})) << "also unknown ones";
}

TEST(TokenEnds, OfWordsAreBehindTheWordAndBlanksBelongToTheNext) {
  EXPECT_EQ(ends_of("word", "  a bb\n c  ", "a c"), (Ends{3, 6, 9})) << "also unknown ones";
  EXPECT_EQ(ends_of("word",
                    "a\u3000\u00A0"
                    "bb",
                    "a"),
            (Ends{1, 8}));
  EXPECT_TRUE(ends_of("word", " \n", "a").empty());
}

TEST(TokenEnds, OfAnEmptyTextAreNone) {
  const auto tokenizer = made("byte", "");
  std::istringstream words{std::string(schema()[leaf_index("data.tokenizer")].words)};
  int kinds = 0;
  for (std::string kind; words >> kind; ++kinds) {
    EXPECT_TRUE(token_ends(kind, *tokenizer, "", {}).empty()) << "needs a row in token_ends.cpp";
  }
  EXPECT_EQ(kinds, 5);
  EXPECT_THROW(token_ends("of another program", *tokenizer, "", {}), Error);
}

TEST(TokenEnds, IdsOfAnotherTextAreRefused) {
  for (const char* const kind : {"byte", "char256", "char", "word"}) {
    const auto tokenizer = made(kind, "a b");
    const Ids ids = tokenizer->encode("a b a");
    EXPECT_NO_THROW(token_ends(kind, *tokenizer, "a b a", ids));
    EXPECT_THROW(token_ends(kind, *tokenizer, "a b", ids), Error) << kind;
    EXPECT_THROW(token_ends(kind, *tokenizer, "a b a b", ids), Error) << kind;
    EXPECT_THROW(token_ends(kind, *tokenizer, "", ids), Error) << kind;
  }
  const auto word = made("word", "a b");
  EXPECT_NO_THROW(token_ends("word", *word, "a b a \n", word->encode("a b a")));
}

TEST(TokenEnds, OfGpt2AreThoseOfTheBytesThatTokensDecodeTo) {
  const auto folder = test::corpus_at_hand("gpt2-bpe", {"encoder.json", "vocab.bpe"});
  if (!folder) GTEST_SKIP() << "gpt2-bpe is not at hand";
  const auto tokenizer = make_tokenizer({"gpt2", 0, *folder}, "");
  EXPECT_EQ(token_ends("gpt2", *tokenizer, "The movie was", Ids{464, 3807, 373}), (Ends{3, 9, 13}));
  const std::string text = std::string("The caf\xC3\xA9 , he said . \n Then ") + kWide + " !";
  const Ids ids = tokenizer->encode(text);
  const Ends ends = token_ends("gpt2", *tokenizer, text, ids);
  ASSERT_EQ(ends.size(), ids.size());
  for (std::size_t j = 0; j < ids.size(); ++j) {
    EXPECT_EQ(tokenizer->decode(std::span(ids).first(j + 1)),
              text.substr(0, static_cast<std::size_t>(ends[j])));
  }
  EXPECT_THROW(token_ends("gpt2", *tokenizer, text + "x", ids), Error);
}

using Indices = std::vector<std::int32_t>;

Indices indices(const std::string& kind, std::string_view text) {
  return segment_of_token(segments(text, Terminator::Spaced), ends_of(kind, text, text));
}

TEST(SegmentOfToken, SwitchesOnceTheEndHasBeenRead) {
  // "a b . " | "C d\n" | "e"
  EXPECT_EQ(indices("byte", "a b . C d\ne"), (Indices{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2}));
}

TEST(SegmentOfToken, ATokenAcrossABoundaryBelongsToTheOldSegment) {
  // The blank behind the full stop, and the line break, are read with the word that follows.
  EXPECT_EQ(indices("word", "a b . C d\ne f"), (Indices{0, 0, 0, 0, 1, 1, 2}));
  EXPECT_EQ(segment_of_token(segments("a . b", Terminator::Spaced), Ends{1, 5}), (Indices{0, 0}));
}

TEST(SegmentOfToken, ATokenMayEndSeveralSegments) {
  const auto parts = segments("\n\n\nab", Terminator::Spaced);
  EXPECT_EQ(segment_of_token(parts, Ends{3, 4, 5}), (Indices{0, 3, 3}));
  EXPECT_EQ(segment_of_token(parts, Ends{}), Indices{});
}

TEST(SegmentOfToken, IsNeverPastTheLastSegment) {
  const auto parts = segments("a\n", Terminator::Spaced);
  EXPECT_EQ(segment_of_token(parts, Ends{2, 2}), (Indices{0, 0}));
  EXPECT_THROW(segment_of_token({}, Ends{1}), Error);
}

}  // namespace token_ends_test
}  // namespace depthgrid
