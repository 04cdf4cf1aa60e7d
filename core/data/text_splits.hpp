#pragma once

#include <cstddef>
#include <string_view>

namespace depthgrid {

/// A text cut in two.
struct TextCut {
  std::string_view head;
  std::string_view tail;
};

/// Cuts the last `fraction` of `whole` off `text`, which is the beginning of `whole`.
///
/// The cut is at the start of a line: the tail has floor(fraction * lines of `whole`) lines, but at
/// least one. A line ends with a newline; text after the last newline is a line, too. A text whose
/// lines are too long for that (a single line, or last lines that hold more than half of `text`
/// and more than four times the share) is cut at the start of a word, or of a character where no
/// white space is near.
TextCut cut_tail(std::string_view text, double fraction, std::string_view whole);

/// Number of lines of a text, including an unterminated last one.
std::size_t count_lines(std::string_view text);

}  // namespace depthgrid
