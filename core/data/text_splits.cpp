#include "core/data/text_splits.hpp"

#include <algorithm>
#include <cmath>

namespace depthgrid {
namespace {

/// How far from its place a cut may move to meet white space.
constexpr std::size_t kNear = 256;

std::size_t share_of(std::size_t whole, double fraction) {
  return static_cast<std::size_t>(std::floor(static_cast<double>(whole) * fraction + 1e-9));
}

TextCut cut_at(std::string_view text, std::size_t at) {
  return {text.substr(0, at), text.substr(at)};
}

/// Where the last `wanted` lines begin; `text` has more.
std::size_t start_of_last_lines(std::string_view text, std::size_t wanted) {
  std::size_t at = text.size();
  if (text.back() == '\n') --at;
  for (std::size_t i = 0; i < wanted; ++i) at = text.rfind('\n', at - 1);
  return at + 1;
}

/// Where a word begins, or else a character, at about `bytes` before the end.
std::size_t start_of_last_bytes(std::string_view text, std::size_t bytes) {
  std::size_t at = text.size() - std::clamp<std::size_t>(bytes, 1, text.size() - 1);
  const std::size_t blank = text.find_first_of(" \t\r\n", at - 1);
  if (blank < std::min(at + kNear, text.size() - 1)) return blank + 1;
  const auto inside_character = [&] {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (int i = 0; i < 3 && at > 1 && inside_character(); ++i) --at;
  return at;
}

}  // namespace

std::size_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

TextCut cut_tail(std::string_view text, double fraction, std::string_view whole) {
  if (fraction <= 0 || text.size() < 2) return {text, {}};
  const std::size_t bytes = share_of(whole.size(), fraction);
  const std::size_t lines = count_lines(text);
  if (lines >= 2) {
    const std::size_t wanted = share_of(count_lines(whole), fraction);
    const std::size_t at = start_of_last_lines(text, std::clamp<std::size_t>(wanted, 1, lines - 1));
    const std::size_t tail = text.size() - at;
    if (tail <= std::max(text.size() / 2, 4 * bytes)) return cut_at(text, at);
  }
  return cut_at(text, start_of_last_bytes(text, bytes));
}

}  // namespace depthgrid
