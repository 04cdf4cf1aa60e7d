#include "core/data/tokenizers/unicode_classes.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace unicode_classes_test {

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

}  // namespace unicode_classes_test
}  // namespace depthgrid
