#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// Files meant by `model.init.from`: the file itself, or a folder's config.json (if any) and
/// model.safetensors, in this order.
/// @throws StorageError (NoInput) if there is none; UserError (BadData) for a kind of file that is
///         never read (pickles).
std::vector<std::filesystem::path> start_files(const std::filesystem::path& path);

/// SHA-256 over the digests of these files (one file: its own), 64 hexadecimal digits.
std::string start_digest(const std::filesystem::path& path);

}  // namespace depthgrid
