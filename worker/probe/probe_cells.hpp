#pragma once

#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// `depthgrid probe`: lets probes look at stored weights of cells, and publishes what they find
/// beside the cells' results (storage/cells/look_file.hpp). The numbers are those that the run
/// records at the same step by the same leaves `probes.*`, on the CPU to the bit. A cell without
/// such a checkpoint is reported, and the others are looked at all the same.
/// @return exit code: of the first problem, or Done. @throws UserError (Usage) for an unknown
///         probe, SweepErrors for leaves that cannot be set.
int probe_cells(const ProbeOrder& order);

}  // namespace depthgrid
