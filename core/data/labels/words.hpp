#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {

/// The code point that begins at `at`, which moves past it. A byte that is not part of UTF-8 gives
/// -1, which is no white space, and is passed alone: what is read of a text never depends on what
/// follows it.
/// @param at  below text.size().
inline std::int32_t next_character(std::string_view text, std::size_t& at) noexcept {
  const std::int32_t code = next_code_point(text, at);
  if (code < 0) ++at;
  return code;
}

/// Calls `use(begin, end)`, bytes, half open, for each word: a run of characters that
/// is_white_space() does not hold for.
template <class Use>
void each_word_of(std::string_view text, const Use& use) {
  std::size_t begin = 0;  // of the word that is being read
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    if (!is_white_space(next_character(text, at))) continue;
    if (before > begin) use(begin, before);
    begin = at;
  }
  if (begin < text.size()) use(begin, text.size());
}

/// Whether there is any.
inline bool has_word(std::string_view text) {
  bool any = false;
  each_word_of(text, [&](std::size_t, std::size_t) { any = true; });
  return any;
}

}  // namespace depthgrid
