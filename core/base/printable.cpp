#include "core/base/printable.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace depthgrid {
namespace {

/// The first character of a text: its code point and its length in bytes.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // false: one byte that is not UTF-8
};

Character first_of(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t head = at(0);
  if (head < 0x80) return {head, 1, true};
  const std::size_t bytes = head >= 0xF0 && head < 0xF5   ? 4
                            : head >= 0xE0 && head < 0xF0 ? 3
                            : head >= 0xC2 && head < 0xE0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {head, 1, false};
  std::uint32_t code = head & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {head, 1, false};
    code = code << 6U | (at(i) & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kSmallest[bytes] || surrogate || code > 0x10FFFF) return {head, 1, false};
  return {code, bytes, true};
}

struct CodeRange {
  std::uint32_t first, last;
};

bool in(const CodeRange* begin, const CodeRange* end, std::uint32_t code) {
  return std::any_of(begin, end,
                     [&](const CodeRange& r) { return code >= r.first && code <= r.last; });
}

// Controls: C0 without tab and line feed, DEL, C1, marks of direction, line and paragraph ends.
constexpr CodeRange kControls[] = {{0x00, 0x08},     {0x0B, 0x1F},     {0x7F, 0x9F},
                                   {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
// Combining marks, joiners and variation selectors.
constexpr CodeRange kNarrow[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                 {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                 {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                                 {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
// Of Unicode's table EastAsianWidth, W and F, in coarse blocks.
constexpr CodeRange kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

std::size_t width_of(const Character& c) {
  if (in(std::begin(kNarrow), std::end(kNarrow), c.code)) return 0;
  return in(std::begin(kWide), std::end(kWide), c.code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    const bool control = in(std::begin(kControls), std::end(kControls), c.code);
    if (c.valid && !control) {
      out += text.substr(0, c.bytes);
    } else {
      out += c.code < 0x100 ? fmt::format("\\x{:02x}", c.code) : fmt::format("\\u{:04x}", c.code);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character c = first_of(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::size_t display_width(std::string_view text) {
  std::size_t out = 0;
  while (!text.empty()) {
    const Character c = first_of(text);
    out += width_of(c);
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const Character c = first_of(rest);
    characters.push_back(rest.substr(0, c.bytes));
    rest.remove_prefix(c.bytes);
  }
  const std::size_t behind = (columns - 1) / 2, before = columns - 1 - behind;
  std::string head, tail;
  std::size_t used = 0;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    used += display_width(characters[i]);
    if (used > before) break;
    head += characters[i];
  }
  used = 0;
  for (std::size_t i = characters.size(); i-- > 0;) {
    used += display_width(characters[i]);
    if (used > behind) break;
    tail.insert(0, characters[i]);
  }
  return head + "…" + tail;
}

std::string shell_word(std::string word) {
  for (char& c : word) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  constexpr std::string_view kSafe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace depthgrid
