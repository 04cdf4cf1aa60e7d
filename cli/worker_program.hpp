#pragma once

#include <string>
#include <vector>

namespace depthgrid {

/// `depthgrid-worker` beside this program. @throws UserError (BadConfig) if it cannot be started.
std::string worker_program();

}  // namespace depthgrid
