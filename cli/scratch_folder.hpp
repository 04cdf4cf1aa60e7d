#pragma once

#include <filesystem>

namespace depthgrid {

/// A folder of its own below TMPDIR that goes away.
class ScratchFolder {
 public:
  /// @throws UserError (CantCreate) if there can be none.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace depthgrid
