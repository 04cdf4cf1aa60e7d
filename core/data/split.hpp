#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace depthgrid {

/// Part of a corpus. The numbers are the order of the dimension `split` in every result file.
enum class Split : std::uint8_t { Train, Dev, Valid, Test };

inline constexpr std::array<std::string_view, 4> kSplitNames{"train", "dev", "valid", "test"};

constexpr std::string_view split_name(Split split) {
  return kSplitNames[static_cast<std::size_t>(split)];
}

}  // namespace depthgrid
