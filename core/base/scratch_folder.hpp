#pragma once

#include <filesystem>

namespace depthgrid {

/// A folder of its own that goes away.
class ScratchFolder {
 public:
  /// @param parent  of it; empty: TMPDIR. It is made if it is missing.
  /// @throws UserError (CantCreate) if there can be none.
  explicit ScratchFolder(const std::filesystem::path& parent = {});
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace depthgrid
