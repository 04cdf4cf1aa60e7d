#pragma once

#include <cstddef>
#include <string_view>

namespace depthgrid {

/// The end of the piece that begins at `at`, as GPT-2's published pattern cuts a text:
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// The first alternative that matches counts. Classes are those of unicode_class(). Each character
/// is looked at once or twice, however long a piece is.
/// Source: Radford et al. (2019), the released encoder.py.
/// @param text  UTF-8, already checked.
/// @param at    below text.size(), where a character begins.
std::size_t gpt2_piece_end(std::string_view text, std::size_t at);

}  // namespace depthgrid
