#pragma once

#include <filesystem>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Moves what is damaged or in the way, whatever it is (a file, a folder, a link), to
/// "NAME.damaged-N" beside it, N = 1, 2, …; nothing is deleted. The caller must hold the folder's
/// lease, or be about to replace the file.
/// @return  where it is now. @throws StorageError (CantCreate).
std::filesystem::path quarantine(const std::filesystem::path& file, const Fs& disk = real_fs());

/// True for names that quarantine() gives.
bool is_quarantined(const std::filesystem::path& file);

/// True if anything has this name, also a link that leads nowhere.
/// @throws StorageError (CantCreate) if that cannot be known: a folder on the way is closed to this
///         user, or the disk reports a fault.
bool something_at(const std::filesystem::path& file, const Fs& disk = real_fs());

}  // namespace depthgrid
