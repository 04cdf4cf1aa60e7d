#pragma once

#include <filesystem>
#include <optional>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// The configuration of the cell whose weights a file has, as `export` wrote it there; nothing of a
/// file that says none, or one that this program cannot read.
/// @param path  the file, or a folder with model.safetensors.
/// @throws as start_files(), and StorageError for a file that is no safetensors file.
std::optional<CellConfig> exported_config(const std::filesystem::path& path);

}  // namespace depthgrid
