#include "core/data/tokenizers/gpt2_pieces.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "core/data/tokenizers/utf8.hpp"
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

constexpr std::uint32_t kCodePoints = 0x110000;

/// The numbers are what tests/golden/unicode_classes.py prints of the package `regex` 2026.11.19
/// (Unicode 18.0), which the published encoder.py imports; surrogates included.
TEST(UnicodeClasses, OfAllCodePointsAreThoseOfThePackageRegex) {
  std::string classes;
  std::array<int, 4> count{};
  for (std::uint32_t code = 0; code < kCodePoints; ++code) {
    const auto kind = static_cast<std::size_t>(unicode_class(code));
    ++count.at(kind);
    classes += static_cast<char>(kind);
  }
  EXPECT_EQ(count[static_cast<std::size_t>(UnicodeClass::Space)], 25);
  EXPECT_EQ(count[static_cast<std::size_t>(UnicodeClass::Letter)], 158'172);
  EXPECT_EQ(count[static_cast<std::size_t>(UnicodeClass::Number)], 2'247);
  EXPECT_EQ(hex(sha256(classes)),
            "7bedb0e4fec28da44a557b90abc66b5560c7868f86dda19ce41f4929feee37c2");
}

/// Some of them by name, for one who looks for the difference.
TEST(UnicodeClasses, OfCharactersOnWhichTablesDiffer) {
  for (const std::uint32_t space : {0x09U, 0x0DU, 0x20U, 0x85U, 0xA0U, 0x1680U, 0x200AU, 0x3000U}) {
    EXPECT_EQ(unicode_class(space), UnicodeClass::Space) << space;
  }
  // 0x180E has been no white space since Unicode 6.3.
  for (const std::uint32_t other :
       {0x1CU, 0x180EU, 0x200BU, 0x301U, 0xFEFFU, 0x1F600U, 0x10FFFFU}) {
    EXPECT_EQ(unicode_class(other), UnicodeClass::Other) << other;
  }
  // The last three came in Unicode 16 (Garay), 17 (extension J) and 18 (small seal script).
  for (const std::uint32_t letter : {0x41U, 0xAAU, 0x4E00U, 0x10D4AU, 0x323B0U, 0x3D000U}) {
    EXPECT_EQ(unicode_class(letter), UnicodeClass::Letter) << letter;
  }
  for (const std::uint32_t number : {0x30U, 0xB2U, 0x2160U, 0x3007U, 0x10D40U}) {
    EXPECT_EQ(unicode_class(number), UnicodeClass::Number) << number;
  }
}

/// Lines and words follow Python's str, whose white space has four characters more than the
/// pattern's: the separators U+001C to U+001F.
TEST(UnicodeClasses, WhiteSpaceOfLinesAndWordsHasFourCharactersMore) {
  for (std::uint32_t code = 0; code < kCodePoints; ++code) {
    const bool more = code >= 0x1C && code <= 0x1F;
    EXPECT_EQ(is_white_space(static_cast<std::int32_t>(code)),
              more || unicode_class(code) == UnicodeClass::Space)
        << code;
  }
}

}  // namespace gpt2_pieces_test
}  // namespace depthgrid
