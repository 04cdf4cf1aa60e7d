#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace depthgrid {

/// The number that the whole text is, as std::from_chars reads it: no blanks, no plus sign, the
/// point whatever the locale. None if anything else stands in it, or if the number does not fit.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number out = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end ? std::optional(out) : std::nullopt;
}

}  // namespace depthgrid
