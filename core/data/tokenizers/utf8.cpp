#include "core/data/tokenizers/utf8.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// Length of the run of ASCII bytes at `position`: fast path, as most texts are mostly ASCII.
std::size_t ascii_end(std::string_view text, std::size_t position) {
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) ++position;
  return position;
}

}  // namespace

std::int32_t next_code_point(std::string_view text, std::size_t& position) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    ++position;
    return static_cast<std::int32_t>(lead);
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4 || text.size() - position < length) return -1;
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return -1;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return -1;
  position += length;
  return static_cast<std::int32_t>(code);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

void require_utf8(std::string_view text, const std::string& place) {
  for (std::size_t at = ascii_end(text, 0); at < text.size(); at = ascii_end(text, at)) {
    if (next_code_point(text, at) >= 0) continue;
    const std::string_view before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    throw UserError(
        ExitCode::BadData,
        fmt::format("{}: not UTF-8: byte 0x{:02x} at offset {} (line {}, byte {} of the line); "
                    "expected UTF-8 text: convert the file, or use data.tokenizer: byte",
                    place, static_cast<unsigned char>(text[at]), at, line, at - line_start + 1));
  }
}

std::string with_valid_utf8(std::string_view text) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (next_code_point(text, at) >= 0) {
      out += text.substr(begin, at - begin);
    } else {
      append_utf8(out, kReplacement);
      ++at;
    }
  }
  return out;
}

bool is_white_space(std::int32_t c) noexcept {
  constexpr std::array<std::int32_t, 8> kSingle{0x20,   0x85,   0xA0,   0x1680,
                                                0x2028, 0x2029, 0x202F, 0x205F};
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x3000 || std::find(kSingle.begin(), kSingle.end(), c) != kSingle.end();
}

}  // namespace depthgrid
