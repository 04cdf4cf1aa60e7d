#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// Files that a `model.init.from` means: the file itself, or config.json (if it is there) and
/// model.safetensors of a folder, in this order.
/// @throws StorageError (NoInput) if there is none; UserError (BadData) for a file of a kind that
/// is
///         never read (pickles).
std::vector<std::filesystem::path> start_files(const std::filesystem::path& path);

/// SHA-256 over the digests of these files (one file: its own), 64 hexadecimal digits.
std::string start_digest(const std::filesystem::path& path);

}  // namespace depthgrid
