#pragma once

#include <filesystem>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Tries in `folder` what a store needs: exclusive creation, hard links that refuse an existing
/// name, rename over an existing file, fsync of a file and of a folder. Logs a warning if space or
/// inodes are scarce or the file server's clock differs. Leaves nothing behind.
/// @throws StorageError (CantCreate) naming the first missing capability, or the bytes needed and
///         free on a full disk.
void require_filesystem(const std::filesystem::path& folder, const Fs& disk = real_fs());

}  // namespace depthgrid
