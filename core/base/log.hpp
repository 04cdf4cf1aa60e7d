#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace depthgrid {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// Lines below `lowest` are not shown; `tag` ("rank 1") stands at the head of each line. The
/// default is Info and no tag. Everything goes to stderr: stdout is for results.
void configure_log(LogLevel lowest, const std::string& tag);

/// From now on every line, shown or not, also goes to the end of `file`, with its time (UTC) and
/// level, and is handed to the kernel at once. Another file takes the place of the one before.
/// @throws StorageError if the file cannot be opened.
void log_to_file(const std::filesystem::path& file);

/// One line "depthgrid[ tag]: [warning: ]text". Never throws.
void log(LogLevel level, const std::string& text) noexcept;

/// A line for the file alone; nothing where there is none. Never throws.
void log_quietly(LogLevel level, const std::string& text) noexcept;

}  // namespace depthgrid
