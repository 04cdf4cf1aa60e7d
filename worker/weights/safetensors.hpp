#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Writes named float32 and int64 tensors as one safetensors file: a JSON header (length first, 8
/// bytes, little-endian) and the raw, row-major bytes. Written under another name and renamed.
/// Source: the format description of the safetensors library, version 0.4.
/// @param metadata  texts of the header's `__metadata__`; if empty, the header has none.
/// @throws StorageError if the file cannot be written; Error for any other dtype.
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace depthgrid
