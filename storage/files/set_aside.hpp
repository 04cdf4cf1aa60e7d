#pragma once

#include <filesystem>

namespace depthgrid {

/// Moves what is damaged or in the way, whatever it is (a file, a folder, a link), to
/// "NAME.damaged-N" beside it, N = 1, 2, …; nothing is deleted. The caller must hold the folder's
/// lease, or be about to replace the file.
/// @return  where it is now. @throws StorageError (CantCreate).
std::filesystem::path set_aside(const std::filesystem::path& file);

/// True for names that set_aside() gives.
bool is_set_aside(const std::filesystem::path& file);

/// True if anything has this name, also a link that leads nowhere.
bool something_at(const std::filesystem::path& file);

}  // namespace depthgrid
