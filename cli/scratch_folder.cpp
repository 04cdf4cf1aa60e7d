#include "cli/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include "core/base/error.hpp"

namespace depthgrid {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "depthgrid.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw UserError(ExitCode::CantCreate,
                    name + ": a folder cannot be made there: set TMPDIR to one that can");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace depthgrid
