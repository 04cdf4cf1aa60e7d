#include "cli/worker_program.hpp"

#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"

namespace depthgrid {

std::string worker_program() {
  const std::string worker = program_beside("depthgrid-worker").string();
  if (access(worker.c_str(), X_OK) != 0) {
    throw UserError(ExitCode::BadConfig,
                    worker +
                        ": not there, or cannot be started; training needs it beside depthgrid: "
                        "build both programs, or copy both");
  }
  return worker;
}

}  // namespace depthgrid
