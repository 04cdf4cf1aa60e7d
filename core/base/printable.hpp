#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace depthgrid {

/// Text from files, names and keys as it may go to a terminal: control characters (those of UTF-8
/// and those that reorder a line, too) become escapes such as \x1b or \u202e, and bytes that are
/// not UTF-8 become \xff. Line feeds and tabs stay.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

/// Columns that a terminal needs for one line of UTF-8: 2 for wide characters of East Asian scripts
/// and emoji, 0 for combining marks, 1 for everything else.
std::size_t display_width(std::string_view text);

/// `text` if it fits in `columns`, else its beginning and its end with "…" between them: aliases of
/// neighbouring cells often differ in their last letters only.
std::string clipped(std::string_view text, std::size_t columns);

/// A word as a shell reads it back: in quotes where it needs some. Control characters become
/// blanks.
std::string shell_word(std::string word);

}  // namespace depthgrid
