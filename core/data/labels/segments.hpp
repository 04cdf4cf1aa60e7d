#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace depthgrid {

/// What ends a segment of a text: words of `train.control.labels.terminator`.
enum class Terminator : std::uint8_t {
  Spaced,  ///< `\s[.!?]\s|\n`: words are set apart by white space, as in WikiText (`U.S.` is none)
  Raw      ///< `[.!?]["')\]]*\s|\n`: text as it is written; abbreviations end segments, too
};

/// @throws UserError for an unknown word.
Terminator terminator(std::string_view word);

/// A part of a text: bytes, half open.
struct TextSegment {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const TextSegment&) const = default;
};

/// What it says. @param text  whose part it is.
inline std::string_view text_of(std::string_view text, const TextSegment& part) {
  return text.substr(static_cast<std::size_t>(part.begin),
                     static_cast<std::size_t>(part.end - part.begin));
}

/// The segments of a text, roughly its sentences and headings; together they are the text.
///
/// A segment ends right after the byte that completes the pattern of its kind. Every completion
/// counts, those of overlapping matches as well: the ends are those of Python's
/// `re.finditer(r"(?=(\s[.!?]\s|\n))", text)`, of which each end counts once. What follows the last
/// completion is a last segment, unless it is empty.
///
/// No look-ahead: which ends lie in a prefix of the text never depends on what follows it (that the
/// text ends is no completion: the last segment may be unfinished).
/// White space is that of is_white_space(). Closing quotes are the ASCII ones: a curly one after a
/// full stop ends nothing.
/// @param text  any bytes; one that is not part of UTF-8 is neither white space nor a terminator.
std::vector<TextSegment> segments(std::string_view text, Terminator kind);

}  // namespace depthgrid
