#pragma once

#include <concepts>
#include <string>

namespace depthgrid {

/// 715840 -> "715,840"
std::string grouped(std::integral auto number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace depthgrid
