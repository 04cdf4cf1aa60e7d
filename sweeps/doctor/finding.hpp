#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/processes.hpp"

namespace depthgrid {

enum class FindingLevel : std::uint8_t { Ok, Warning, Problem };
inline constexpr std::string_view kFindingLevelNames[] = {"ok", "warning", "problem"};
constexpr std::string_view name_of(FindingLevel level) noexcept {
  return kFindingLevelNames[static_cast<std::size_t>(level)];
}

/// One thing that was examined.
struct Finding {
  std::string what;  // "free space"
  FindingLevel level = FindingLevel::Ok;
  std::string seen = {};
  std::string cure = {};  // empty if there is nothing to cure

  /// The same as what should be cured, or must be.
  Finding warning(std::string by) const {
    return {what, FindingLevel::Warning, seen, std::move(by)};
  }
  Finding problem(std::string by) const {
    return {what, FindingLevel::Problem, seen, std::move(by)};
  }
};

/// The last line of a command's errors, or of its output, that is not empty.
std::string last_words(const CommandAnswer& answer);

}  // namespace depthgrid
