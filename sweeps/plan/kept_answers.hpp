#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

/// Files that keep what was dear to find out, one an answer. A cache that cannot be read or written
/// costs time, nothing else: neither function throws.
/// @return  nothing if the file is absent or cannot be read.
std::optional<std::string> kept_answer(const std::filesystem::path& file);

/// Replaces the answer; makes the folder.
void keep_answer(const std::filesystem::path& file, std::string_view text);

}  // namespace depthgrid
