#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// What the store's filesystem can do, tried out in the folder itself.
struct FsReport {
  std::vector<std::string> missing;  // named capabilities that the store cannot do without
  std::vector<std::string>
      warnings;  // what may hurt: little space, few inodes, a clock that differs
  std::uint64_t free_bytes = 0;
  std::uint64_t free_inodes = 0;  // 0 with no report of it
};

/// Tries in `folder`: exclusive creation, hard links that refuse an existing name, rename over an
/// existing file, fsync of a file and of a folder; reads free space, inodes and the clock of the
/// file server. Leaves nothing behind.
FsReport probe_filesystem(const std::filesystem::path& folder);

/// @throws StorageError (CantCreate) naming every missing capability; logs the warnings.
void require_filesystem(const std::filesystem::path& folder);

}  // namespace depthgrid
