#pragma once

#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// `depthgrid probe`: lets probes measure stored weights of cells, and publishes what they find
/// beside the cells' results (storage/cells/probe_record.hpp). The numbers are those that the run
/// records at the same step by the same leaves `probes.*`, on the CPU to the bit. A cell without
/// such a checkpoint is reported, and the others are measured all the same.
/// @return exit code: of the first problem, or Done. @throws UserError (Usage) for an unknown
///         probe, SweepErrors for leaves that cannot be set.
int probe_cells(const ProbeCommand& command);

}  // namespace depthgrid
