#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "sweeps/page/page_files.hpp"

namespace depthgrid {

// Where `report` writes.

/// The format that a word of --format names; nothing for html, which is one file.
/// @throws UserError (Usage) for another word.
std::optional<PageFormat> page_format_of(const std::string& word);

/// Before anything is read: -o of a page is no folder, -o of several files no file and no store,
/// and there is a folder that may be written to. Makes nothing.
/// @throws UserError (Usage); StorageError (CantCreate), as the writing would.
void check_page_target(const std::filesystem::path& target,
                       const std::optional<PageFormat>& format);

/// Writes the files into the folder, which is made if need be; files of the same names are
/// replaced. @return  their bytes. @throws StorageError (CantCreate)
std::uint64_t publish_page_files(const std::filesystem::path& folder,
                                 std::span<const PageFile> files);

}  // namespace depthgrid
