#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace depthgrid {

/// What GPT-2's published pattern distinguishes.
enum class UnicodeClass : std::uint8_t {
  Other,
  Space,   // \s: the property White_Space
  Letter,  // \p{L}
  Number,  // \p{N}
};

/// The class of a code point in Unicode 18.0, by a table of this program: texts are cut alike on
/// every machine. From 9.0 (2016) to 18.0 two characters have changed their class (U+1CF2 and
/// U+1CF3, letters since 12.0); versions differ in what is not assigned yet, which is `Other`.
/// Source: The Unicode Standard 18.0, UnicodeData.txt and PropList.txt.
UnicodeClass unicode_class(std::uint32_t code_point) noexcept;

/// The end of the piece that begins at `at`, as GPT-2's published pattern cuts a text:
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// The first alternative that matches counts. Classes are those of unicode_class(). Each character
/// is examined once or twice, however long a piece is.
/// Source: Radford et al. (2019), the released encoder.py.
/// @param text  UTF-8, already checked.
/// @param at    below text.size(), where a character begins.
std::size_t gpt2_piece_end(std::string_view text, std::size_t at);

}  // namespace depthgrid
