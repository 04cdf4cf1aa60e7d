#pragma once

#include <cstdint>
#include <string>

namespace depthgrid {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// Lines below `lowest` are dropped; `tag` ("rank 1") stands at the head of each line. The default
/// is Info and no tag. Everything goes to stderr: stdout is for results.
void configure_log(LogLevel lowest, const std::string& tag);

/// One line "depthgrid[ tag]: [warning: ]text". Never throws.
void log(LogLevel level, const std::string& text) noexcept;

}  // namespace depthgrid
