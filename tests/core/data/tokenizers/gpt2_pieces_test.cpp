#include "core/data/tokenizers/gpt2_pieces.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/core/data/data_test_support.hpp"
#include "tests/support/source_folder.hpp"

namespace depthgrid {
namespace gpt2_pieces_test {

/// A text of tests/golden/gpt2_pieces.txt, which the released tokeniser has cut and numbered.
struct Golden {
  std::vector<std::string> pieces;
  std::vector<std::uint32_t> ids;

  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
};

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::vector<Golden> golden() {
  std::vector<Golden> all;
  std::ifstream file(testing::source_folder() / "tests/golden/gpt2_pieces.txt");
  for (std::string line; std::getline(file, line);) {
    Golden& one = all.emplace_back();
    std::istringstream words(line);
    bool of_ids = false;
    for (std::string word; words >> word;) {
      if (word == "|") {
        of_ids = true;
      } else if (of_ids) {
        one.ids.push_back(static_cast<std::uint32_t>(std::stoul(word)));
      } else {
        one.pieces.push_back(from_hex(word));
      }
    }
  }
  return all;
}

std::vector<std::string> cut(std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = gpt2_piece_end(text, at);
    if (end <= at) {
      ADD_FAILURE() << "no progress at " << at;
      break;
    }
    pieces.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

TEST(Gpt2Pieces, AreThoseOfTheReleasedPattern) {
  const auto all = golden();
  EXPECT_EQ(all.size(), 378U);
  for (const Golden& one : all) EXPECT_EQ(cut(one.text()), one.pieces) << one.text();
}

TEST(Gpt2Pieces, IdsAreThoseOfTheReleasedTokeniser) {
  const auto folder = test::corpus_at_hand("gpt2-bpe", {"encoder.json", "vocab.bpe"});
  if (!folder) GTEST_SKIP() << "gpt2-bpe is not at hand";
  const auto tokenizer = make_tokenizer({"gpt2", 0, *folder}, "");
  for (const Golden& one : golden()) {
    EXPECT_EQ(tokenizer->encode(one.text()), one.ids) << one.text();
  }
}

/// What other tables (that of PCRE2 10.42) take for white space, and the released tokeniser does
/// not.
TEST(Gpt2Pieces, TheMongolianVowelSeparatorIsNoWhiteSpace) {
  EXPECT_EQ(cut(" \u180Ea"), (std::vector<std::string>{" \u180E", "a"}));
  EXPECT_EQ(cut("a\u180E\u180E b"), (std::vector<std::string>{"a", "\u180E\u180E", " b"}));
}

/// Runs of 10 MB are one piece each; a matcher that goes back, or has a stack, could refuse them.
TEST(Gpt2Pieces, ARunOfAnyLengthIsOnePiece) {
  constexpr std::size_t kLength = 10'000'000;
  for (const char* const character : {"a", "7", "!", " ", "\n", "\u00E9", "\u3000", "\u0660"}) {
    std::string run;
    while (run.size() < kLength) run += character;
    EXPECT_EQ(gpt2_piece_end(run, 0), run.size()) << character;
    run += "\u2026x";  // another class, so that white space must give back its last character
    const bool white = *character == ' ' || *character == '\n' || run.starts_with("\u3000");
    const bool other = *character == '!';
    const std::size_t last = std::string_view(character).size();
    EXPECT_EQ(gpt2_piece_end(run, 0), other ? run.size() - 1 : run.size() - 4 - (white ? last : 0))
        << character;
  }
}

}  // namespace gpt2_pieces_test
}  // namespace depthgrid
