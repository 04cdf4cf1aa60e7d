#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace depthgrid {

/// A read-only memory map of a file, valid for the object's lifetime.
class MappedFile {
 public:
  /// @throws StorageError (NoInput) if the file cannot be opened or mapped.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& file);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace depthgrid
