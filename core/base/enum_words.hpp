#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace depthgrid {

/// How a value of an enum is called. @param words  in the order of the values, which begin with 0.
template <typename Enum, std::size_t n>
constexpr std::string_view enum_word(const std::array<std::string_view, n>& words,
                                     Enum value) noexcept {
  return words[static_cast<std::size_t>(value)];
}

/// The value of such a word; nothing for another one.
template <typename Enum, std::size_t n>
constexpr std::optional<Enum> enum_of(const std::array<std::string_view, n>& words,
                                      std::string_view word) noexcept {
  const auto* const at = std::ranges::find(words, word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Enum>(at - words.begin());
}

}  // namespace depthgrid
