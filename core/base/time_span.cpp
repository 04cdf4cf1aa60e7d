#include "core/base/time_span.hpp"

#include <algorithm>
#include <cstddef>

namespace depthgrid {
namespace {

/// A whole number of at most `digits` digits.
std::optional<double> whole(std::string_view text, std::size_t digits) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > digits || !std::ranges::all_of(text, digit)) return {};
  double value = 0;
  for (const char c : text) value = 10 * value + (c - '0');
  return value;
}

}  // namespace

std::optional<double> parsed_time_span(std::string_view text) {
  constexpr double kMinute = 60;
  double days = 0;
  const std::size_t dash = text.find('-');
  if (dash != text.npos) {
    const auto value = whole(text.substr(0, dash), 4);
    if (!value) return {};
    days = *value;
    text.remove_prefix(dash + 1);
  }
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  if (first == text.npos || last != first + 3 || text.size() != last + 3) return {};
  const auto hours = whole(text.substr(0, first), 4);
  const auto minutes = whole(text.substr(first + 1, 2), 2);
  const auto seconds = whole(text.substr(last + 1), 2);
  if (!hours || !minutes || !seconds || *minutes >= kMinute || *seconds >= kMinute) return {};
  return ((24 * days + *hours) * kMinute + *minutes) * kMinute + *seconds;
}

}  // namespace depthgrid
