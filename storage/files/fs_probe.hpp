#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// What the store's filesystem supports, found by trying in the folder itself.
struct FsReport {
  std::vector<std::string> missing;   // names of required capabilities
  std::vector<std::string> warnings;  // little space, few inodes, clock skew
  std::uint64_t free_bytes = 0;
  std::uint64_t free_inodes = 0;  // 0 if not reported
};

/// Tries in `folder`: exclusive creation, hard links that refuse an existing name, rename over an
/// existing file, fsync of a file and of a folder; reads free space, free inodes and the file
/// server's clock. Leaves nothing behind.
FsReport probe_filesystem(const std::filesystem::path& folder);

/// @throws StorageError (CantCreate) naming every missing capability; logs the warnings.
void require_filesystem(const std::filesystem::path& folder);

}  // namespace depthgrid
