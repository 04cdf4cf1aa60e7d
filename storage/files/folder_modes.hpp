#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// What decides who may exchange the files of a folder.
struct FolderModes {
  unsigned mode = 0;             // permission bits, with set-id and sticky
  std::int64_t file_system = 0;  // its kind, f_type of statfs(2); 0 = unknown
};

/// @throws StorageError (CantCreate) if it is no folder or cannot be asked.
FolderModes modes_of(const std::filesystem::path& folder, const Fs& disk = real_fs());

/// Why a folder must not be a store.
struct UnsafeModes {
  std::string seen, cure;
  bool of_mount = false;  // a new folder on that file system would have the same modes
};

/// None if nobody but the owner may write to it, or if it is sticky.
/// @param access  Group: its group may write to it, too.
std::optional<UnsafeModes> unsafe_modes(const std::filesystem::path& folder,
                                        const FolderModes& modes,
                                        FileAccess access = FileAccess::Owner);

}  // namespace depthgrid
