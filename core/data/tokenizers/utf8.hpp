#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace depthgrid {

/// Decodes the code point that begins at `position` and advances `position` past it.
///
/// Strict: no overlong forms, surrogates or numbers above U+10FFFF.
/// Source: The Unicode Standard 15, table 3-7 (well-formed UTF-8 byte sequences).
/// @return  the code point, or -1 (position unchanged) if the bytes are not UTF-8.
std::int32_t next_code_point(std::string_view text, std::size_t& position) noexcept;

/// Appends the UTF-8 form of one code point.
void append_utf8(std::string& out, std::uint32_t code_point);

/// Throws unless all of `text` is UTF-8.
/// @param place  what the text is, for the message ("data/wikitext-2/train.txt").
/// @throws UserError (BadData) naming the place, the byte, its offset, line and column.
void require_utf8(std::string_view text, const std::string& place);

/// The text with U+FFFD in place of every byte that is not part of UTF-8.
std::string with_valid_utf8(std::string_view text);

/// True for the characters that Python's str.strip() treats as white space.
bool is_white_space(std::int32_t code_point) noexcept;

}  // namespace depthgrid
