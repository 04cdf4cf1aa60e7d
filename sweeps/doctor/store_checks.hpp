#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/files/folder_modes.hpp"
#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// Space in bytes and in files; `files` is 0 where a file system does not count them.
Finding space_finding(double free_bytes, std::uint64_t free_files, bool counts_files);

/// @param skew  time of a new file less this machine's time, s.
Finding clock_finding(double skew);

/// Who may exchange files in the store, judged as Store::open_or_create() does.
/// @param is_store  false: a store is going to be made in the folder, with modes of its own where
///                  the file system keeps any.
/// @param access    of the store, as it says itself.
Finding permissions_finding(const std::filesystem::path& folder, const FolderModes& modes,
                            bool is_store, FileAccess access = FileAccess::Owner);

/// What a store needs of its folder: links, renames, fsync, permissions, locks, space, and the
/// clock of its file server. A folder that is not there yet is judged by the nearest one above.
/// Leaves nothing behind.
/// @param holds_stores  the folder is no store, stores will lie in it.
std::vector<Finding> store_findings(const std::filesystem::path& folder, bool holds_stores = false);

}  // namespace depthgrid
