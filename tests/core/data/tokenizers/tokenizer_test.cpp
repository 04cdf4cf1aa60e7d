#include "core/data/tokenizers/tokenizer.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace tokenizer_test {

using Ids = std::vector<std::uint32_t>;

std::unique_ptr<Tokenizer> made(const std::string& kind, std::string_view text = "",
                                std::int64_t words = 4) {
  return make_tokenizer({kind, words, {}}, text);
}

TEST(Tokenizer, Char256ClampsCodePoints) {
  const auto tokenizer = made("char256");
  EXPECT_EQ(tokenizer->encode("Aé€\xF0\x9F\x98\x80"), (Ids{65, 233, 255, 255}));
  EXPECT_EQ(tokenizer->decode(Ids{65, 233, 255}), "Aéÿ");
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  EXPECT_THROW(tokenizer->decode(Ids{256}), Error);
}

TEST(Tokenizer, ByteTakesAnyBytesAndGivesThemBack) {
  const auto tokenizer = made("byte");
  const std::string text("\x00\xFF\xC3\xA9 A", 6);
  EXPECT_EQ(tokenizer->encode(text), (Ids{0, 255, 0xC3, 0xA9, 32, 65}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  EXPECT_FALSE(tokenizer->needs_utf8());
}

TEST(Tokenizer, CharSortsTheTrainingTextByCodePointAndKeepsZeroForTheUnknown) {
  const auto tokenizer = made("char", "ba é\n");
  EXPECT_EQ(tokenizer->vocab_size(), 6);  // \n, blank, a, b, é and the unknown
  EXPECT_EQ(tokenizer->encode("\n abé"), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(tokenizer->encode("az€"), (Ids{3, 0, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{4, 5, 0}), "bé\xEF\xBF\xBD");
  EXPECT_THROW(tokenizer->decode(Ids{6}), Error);
}

TEST(Tokenizer, CharIdentityFollowsTheVocabulary) {
  EXPECT_EQ(made("char", "abc")->identity(), made("char", "cabba")->identity());
  EXPECT_NE(made("char", "abc")->identity(), made("char", "abd")->identity());
}

TEST(Tokenizer, WordKeepsTheMostFrequentAndBreaksTiesByBytes) {
  const auto tokenizer = made("word", "the cat the dog a cat the zoo", 4);
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  EXPECT_EQ(tokenizer->encode("the\tcat  a dog\n"), (Ids{1, 2, 3, 0}));  // a < dog < zoo
  EXPECT_EQ(tokenizer->decode(Ids{1, 0, 2}), "the <unk> cat");
}

/// What separates words separates them in str.split() of Python, too.
TEST(Tokenizer, WordSeparatesAtEveryKindOfWhiteSpace) {
  for (const char* const space : {" ", "\t", "\v", "\x1C", "\x1F", "\u0085", "\u00A0", "\u1680",
                                  "\u2003", "\u2028", "\u202F", "\u205F", "\u3000", " \u00A0\n"}) {
    const std::string text = std::string("a") + space + "b" + space;
    EXPECT_EQ(made("word", text, 8)->vocabulary(), (std::vector<std::string>{"a", "b"})) << text;
    EXPECT_EQ(made("word", "a b", 8)->encode(space + text), (Ids{1, 2})) << text;
  }
  for (const char* const no_space : {"\u180E", "\u200B", "\u2060", "\uFEFF"}) {
    const std::string word = std::string("a") + no_space + "b";
    EXPECT_EQ(made("word", word, 8)->vocabulary(), (std::vector<std::string>{word}));
  }
  EXPECT_THROW(made("word", "a\xFF", 8), Error);
}

/// A word, or a text, of any length takes the time of its length.
TEST(Tokenizer, LongTextsWithoutBlanksAreOneWord) {
  const std::string run(3'000'000, 'x');
  EXPECT_EQ(made("word", run, 4)->encode(run), (Ids{1}));
  EXPECT_EQ(made("char", run)->encode(run).size(), run.size());
}

TEST(Tokenizer, AnUnknownKindIsAnErrorThatListsTheKnown) {
  const std::string message = test::message_of<UserError>([] { made("bpe"); });
  EXPECT_NE(message.find("'bpe'"), std::string::npos);
  EXPECT_NE(message.find("char256, byte, gpt2, char, word"), std::string::npos);
}

}  // namespace tokenizer_test
}  // namespace depthgrid
