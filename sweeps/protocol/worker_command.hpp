#pragma once

#include <string>
#include <vector>

namespace depthgrid {

/// The command line of `depthgrid-worker VERB [ORDER]`; the worker is in this program's folder.
/// @param json  of a command, see sweeps/protocol; empty: it is sent on stdin.
/// @throws UserError (BadConfig) if the worker cannot be started.
std::vector<std::string> worker_command(const std::string& verb, const std::string& json = {});

}  // namespace depthgrid
