#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

/// A file cache of expensive answers, one file per answer. A cache that cannot be read or written
/// only costs time: neither function throws.
/// @return  nothing if the file is absent or cannot be read.
std::optional<std::string> cached_answer(const std::filesystem::path& file);

/// Replaces the answer; creates the folder.
void cache_answer(const std::filesystem::path& file, std::string_view text);

}  // namespace depthgrid
