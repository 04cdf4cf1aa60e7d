#include "sweeps/protocol/worker_command.hpp"

#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"

namespace depthgrid {

std::vector<std::string> worker_command(const std::string& verb, const std::string& json) {
  const std::string worker = program_beside("depthgrid-worker").string();
  if (access(worker.c_str(), X_OK) != 0) {
    throw UserError(ExitCode::BadConfig,
                    worker +
                        ": not there, or cannot be started; training needs it beside depthgrid: "
                        "build both programs, or copy both");
  }
  std::vector<std::string> command = {worker, verb};
  if (!json.empty()) command.push_back(json);
  return command;
}

}  // namespace depthgrid
