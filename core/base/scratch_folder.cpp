#include "core/base/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include "core/base/error.hpp"

namespace depthgrid {

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) {
  namespace fs = std::filesystem;
  std::error_code reported_below;
  if (!parent.empty()) fs::create_directories(parent, reported_below);
  std::error_code no_folder;
  const fs::path folder = parent.empty() ? fs::temp_directory_path(no_folder) : parent;
  if (no_folder) {
    const char* const named = std::getenv("TMPDIR");
    throw UserError(ExitCode::CantCreate, "TMPDIR=" + std::string(named == nullptr ? "" : named) +
                                              ": " + no_folder.message() +
                                              ": set it to a folder that can be written to");
  }
  std::string name = (folder / "depthgrid.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw UserError(ExitCode::CantCreate, name +
                                              ": a folder cannot be made there: set TMPDIR, or the "
                                              "variable that names this one, to one that can");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace depthgrid
