#include "core/data/text_splits.hpp"

#include <algorithm>
#include <cmath>

namespace depthgrid {

std::size_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

TextCut cut_last_lines(std::string_view text, double fraction, std::size_t of_lines) {
  const std::size_t lines = count_lines(text);
  if (fraction <= 0 || lines < 2) return {text, {}};
  const auto whole = static_cast<double>(of_lines == 0 ? lines : of_lines);
  auto wanted = static_cast<std::size_t>(std::floor(whole * fraction + 1e-9));
  wanted = std::clamp<std::size_t>(wanted, 1, lines - 1);
  std::size_t cut = text.size();
  if (text.back() == '\n') --cut;
  for (std::size_t i = 0; i < wanted; ++i) {
    cut = text.rfind('\n', cut - 1);  // exists: wanted < lines
  }
  return {text.substr(0, cut + 1), text.substr(cut + 1)};
}

}  // namespace depthgrid
