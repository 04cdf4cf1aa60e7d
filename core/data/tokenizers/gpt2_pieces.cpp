#include "core/data/tokenizers/gpt2_pieces.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kContractions[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

/// Advances `at` past one character. A byte that is not UTF-8 cannot occur; it would be `Other`.
UnicodeClass next_class(std::string_view text, std::size_t& at) {
  const std::int32_t code = next_code_point(text, at);
  if (code >= 0) return unicode_class(static_cast<std::uint32_t>(code));
  ++at;
  return UnicodeClass::Other;
}

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

#include "core/data/tokenizers/unicode_classes.inc"

constexpr bool holds(std::span<const CodeRange> ranges, std::uint32_t code) noexcept {
  const auto next = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return next != ranges.begin() && code <= (next - 1)->last;
}

constexpr UnicodeClass searched(std::uint32_t code) noexcept {
  if (holds(kLetters, code)) return UnicodeClass::Letter;
  if (holds(kSpaces, code)) return UnicodeClass::Space;
  return holds(kNumbers, code) ? UnicodeClass::Number : UnicodeClass::Other;
}

/// Most texts are mostly ASCII, which needs no search.
constexpr auto kOfAscii = [] {
  std::array<UnicodeClass, 0x80> classes{};
  for (std::uint32_t code = 0; code < classes.size(); ++code) classes[code] = searched(code);
  return classes;
}();

}  // namespace

UnicodeClass unicode_class(std::uint32_t code_point) noexcept {
  return code_point < kOfAscii.size() ? kOfAscii[code_point] : searched(code_point);
}

std::size_t gpt2_piece_end(std::string_view text, std::size_t at) {
  for (const std::string_view contraction : kContractions) {
    if (text.substr(at).starts_with(contraction)) return at + contraction.size();
  }
  const bool blank = text[at] == ' ';
  std::size_t end = at;
  UnicodeClass kind = next_class(text, end);
  if (blank && end < text.size()) {  // " ?": the blank goes with what follows, unless that is white
    std::size_t second = end;
    const UnicodeClass following = next_class(text, second);
    if (following != UnicodeClass::Space) {
      kind = following;
      end = second;
    }
  }
  std::size_t last = at;  // where the last character of the run begins
  for (std::size_t next = end; next < text.size();) {
    const std::size_t begin = next;
    if (next_class(text, next) != kind) {
      // "\s+(?!\S)": white space before a character leaves its last one to the next piece; where
      // it has only one, "\s+" takes it.
      return kind == UnicodeClass::Space && last > at ? last : end;
    }
    last = begin;
    end = next;
  }
  return end;
}

}  // namespace depthgrid
