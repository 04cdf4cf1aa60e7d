#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// The bytes of a file from `offset` on, of one that another process may be writing or that may be
/// damaged. "" if there is no regular file of that name, if it cannot be read, or if it ends
/// before. For what must be there: read_text_file().
std::string loose_text(const std::filesystem::path& file, std::uint64_t offset = 0,
                       const Fs& disk = real_fs());

/// Writes a text of which nothing depends; nothing is synced. @return false if that failed.
bool put_loose_text(const std::filesystem::path& file, std::string_view text, OpenHow how,
                    const Fs& disk = real_fs());

/// When a file was last written, in seconds since 1970 by the clock of its filesystem; NaN if it is
/// not there. For people: never compare times of two hosts.
double written_time(const std::filesystem::path& file, const Fs& disk = real_fs());

}  // namespace depthgrid
