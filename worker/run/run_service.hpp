#pragma once

#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// `depthgrid run` in the worker: trains what a sweep is missing, as this process's rank of a
/// launcher, or alone. The ranks form teams; the first rank of each claims cells in the store, so
/// any number of runs may share it. Watches for signals. An error shared by all ranks is reported
/// by one of them; any other ends the launcher's other ranks, too.
/// @param argc, argv  of main(), for MPI.
/// @return exit code. @throws UserError without a launcher.
int run(const RunCommand& command, int argc, char** argv);

}  // namespace depthgrid
