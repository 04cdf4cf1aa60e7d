#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// One tensor of a safetensors file.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F32", "BF16", ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // byte offsets from the end of the header
};

/// Reads a safetensors file, trusting nothing in it.
///
/// The header is rejected unless it lies inside the file, is one JSON object of UTF-8 text without
/// repeated keys, and describes tensors of known types whose bytes, as many as their shapes
/// require, follow each other without gap or overlap to the end of the file. Nothing in the file is
/// executed. Source: the format description of the safetensors library, version 0.4.
class SafetensorsFile {
 public:
  /// Reads and checks only the header. @throws StorageError: NoInput if the file cannot be opened,
  /// BadData with the reason if it is rejected.
  explicit SafetensorsFile(std::filesystem::path file);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::vector<SafetensorsEntry>& entries() const noexcept { return entries_; }
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }

  /// Null if there is no tensor of that name.
  const SafetensorsEntry* find(std::string_view name) const;

  /// Reads one tensor of type F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL, in that type.
  /// @throws StorageError (BadData) for any other type, or if the file has become shorter.
  at::Tensor read(const SafetensorsEntry& entry) const;

 private:
  std::filesystem::path path_;
  std::uint64_t body_ = 0;  // offset of the first tensor
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// Writes named float32 and int64 tensors as one safetensors file: a JSON header (length first, 8
/// bytes, little-endian) and the raw, row-major bytes. Written under another name and renamed.
/// Source: the format description of the safetensors library, version 0.4.
/// @param metadata  texts of the header's `__metadata__`; if empty, the header has none.
/// @throws StorageError if the file cannot be written; Error for any other dtype.
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace depthgrid
