#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// The level of a name: debug, info, warning, error; nothing for another word.
std::optional<LogLevel> log_level_named(std::string_view name);

/// The environment variable that --log-level sets, so that workers follow it.
inline constexpr const char* kLogLevelVariable = "DEPTHGRID_LOG_LEVEL";
/// The level that it names; Info without it, or if it names none.
LogLevel wanted_log_level();

/// Lines below `lowest` are not shown; each line starts with `tag` ("rank 1"). The default is Info
/// and no tag. Everything goes to stderr: stdout is for results. Each line is preceded by `lead`:
/// kEraseBelow while a display is on the terminal.
void configure_log(LogLevel lowest, const std::string& tag, std::string_view lead = {});

/// From now on every line, shown or not, is also appended to `file` with its time (UTC) and level,
/// unbuffered. A later call switches to its file.
/// @throws StorageError if the file cannot be opened.
void log_to_file(const std::filesystem::path& file);

/// One line "depthgrid[ tag]: [warning: ]text", printable(). Never throws.
void log(LogLevel level, const std::string& text) noexcept;

/// Writes the line to the log file only, if there is one. Never throws.
void log_quietly(LogLevel level, const std::string& text) noexcept;

}  // namespace depthgrid
