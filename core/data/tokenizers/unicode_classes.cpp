#include "core/data/tokenizers/unicode_classes.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace depthgrid {
namespace {

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

}  // namespace depthgrid
