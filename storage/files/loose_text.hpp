#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace depthgrid {

/// The bytes of a file from `offset` on, of one that another process may be writing or that may be
/// damaged. "" if there is no regular file of that name (to read a folder as a stream throws), if
/// it cannot be read, or if it ends before. For what must be there: read_text_file().
std::string loose_text(const std::filesystem::path& file, std::uint64_t offset = 0);

/// When a file was last written, in seconds since 1970 by the clock of its filesystem; NaN if it is
/// not there. For people: never compare times of two hosts.
double written_time(const std::filesystem::path& file);

}  // namespace depthgrid
