#pragma once

#include <vector>

#include "core/config/sweep.hpp"
#include "distributed/collective.hpp"
#include "storage/store.hpp"
#include "sweeps/protocol/commands.hpp"
#include "worker/process/progress.hpp"

namespace depthgrid {

/// The sweep of a command with the widths that `match:` asks for, the same on every rank: the first
/// rank reads them from the store's plan, or finds and publishes them there. Of several runs at
/// once, the first one's widths apply to all. Collective over `world`.
/// @throws UserError on every rank if the sweep cannot be trained: see matched_sweep(),
///         check_starts().
Sweep planned_sweep(const RunCommand& command, Collective& world);

/// The store of a command, made by the first rank. Collective over `world`.
/// @throws UserError like Store::open_or_create(), on every rank.
Store opened_store(const RunCommand& command, Collective& world);

/// Makes the sweep the store's newest plan and says what the run adds to it, by the first rank; the
/// corpora are open by then, so that a start that could not train leaves no plan. A process for a
/// single cell, or started by a supervisor, leaves the plans as they are, and so does a task whose
/// cells are in one of them. Collective over `world`.
/// @throws UserError like publish_plan(), on every rank.
void publish_sweep(const RunCommand& command, Collective& world, const Sweep& sweep,
                   const Store& store, Progress& progress);

/// Puts the results of the cells that a command names away, so that they are trained again, and
/// whatever was recorded of a cell with other values than it has now (former_values.hpp); by the
/// first rank. Collective over `world`. @throws UserError like archive_result(), on every rank.
void begin_again(const RunCommand& command, Collective& world, const Sweep& sweep,
                 const Store& store, Progress& progress);

/// Cells that a run may train: those without a result, as the first rank sees them. Teams that each
/// checked separately would divide the cells into different jobs once a fast one had finished
/// some. Collective over `world`.
/// @return  one flag per cell.
std::vector<bool> wanted_cells(const RunCommand& command, Collective& world, const Sweep& sweep,
                               const Store& store);

}  // namespace depthgrid
