#pragma once

#include "core/base/exit_code.hpp"
#include "distributed/collective.hpp"
#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// Trains what a sweep is missing, as one rank of `world`; the whole of `depthgrid run`.
///
/// The world consists of teams; the first rank of each claims cells in the store, so any
/// number of runs may share it. A run ends when every cell is done, by any run.
/// @param local_rank, local_size  position among the ranks of this host, for the choice of a GPU.
/// @throws UserError for what the user can fix, before anything is trained.
ExitCode run_sweep(const RunOrder& order, Collective& world, int local_rank, int local_size);

}  // namespace depthgrid
