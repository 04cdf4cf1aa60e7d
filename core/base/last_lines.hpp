#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Lines of a log that a report of a failure holds.
inline constexpr std::size_t kLastWords = 100;

/// The last `lines` lines of a file, at most 64 KiB; "" if it cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines,
                       const Fs& disk = real_fs());

}  // namespace depthgrid
