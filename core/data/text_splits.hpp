#pragma once

#include <cstddef>
#include <string_view>

namespace depthgrid {

/// Share of valid in a corpus that is one text.
inline constexpr double kValidFraction = 0.02;

/// A text cut in two at a line's start.
struct TextCut {
  std::string_view head;
  std::string_view tail;
};

/// Cuts off the last `fraction` of the lines: floor(fraction * lines), but one at least where the
/// fraction is above 0 and there are two lines or more.
///
/// A line ends with a newline; what follows the last newline is a line too.
/// @param of_lines  lines that the fraction refers to; 0 = those of `text`.
TextCut cut_last_lines(std::string_view text, double fraction, std::size_t of_lines = 0);

/// Lines of a text, an unfinished last one included.
std::size_t count_lines(std::string_view text);

}  // namespace depthgrid
