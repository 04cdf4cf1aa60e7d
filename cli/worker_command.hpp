#pragma once

#include <string>
#include <vector>

namespace depthgrid {

/// The command line of `depthgrid-worker VERB [ORDER]`; the worker lies beside this program.
/// @param order  as text, see sweeps/orders; empty: it will come by stdin.
/// @throws UserError (BadConfig) if the worker cannot be started.
std::vector<std::string> worker_command(const std::string& verb, const std::string& order = {});

}  // namespace depthgrid
