#pragma once

#include <cstddef>
#include <string_view>

namespace depthgrid {

/// Fraction of lines for valid in a corpus of one text.
inline constexpr double kValidFraction = 0.02;

/// A text cut in two at the start of a line.
struct TextCut {
  std::string_view head;
  std::string_view tail;
};

/// Cuts off the last floor(fraction * lines) lines, but at least one if the fraction is positive
/// and there are two or more.
///
/// A line ends with a newline; text after the last newline is a line, too.
/// @param of_lines  number of lines that the fraction refers to; 0 = those of `text`.
TextCut cut_last_lines(std::string_view text, double fraction, std::size_t of_lines = 0);

/// Number of lines of a text, including an unterminated last one.
std::size_t count_lines(std::string_view text);

}  // namespace depthgrid
