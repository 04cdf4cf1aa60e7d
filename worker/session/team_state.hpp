#pragma once

#include <cstdint>

#include "core/cells/cell_set.hpp"
#include "core/train/optimizer/arena.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

// The ranks of a team hold one state: the same parameters of the same running cells. Every call is
// collective over the team (host tensors) and does nothing in a team of one.

/// Retires on the other ranks, as completed, the cells that the first rank has retired: only it
/// evaluates, so only it knows of early stops. Without this the others would go on updating them.
void share_ends(Collective& team, CellSet& cells);

/// First eight bytes of the SHA-256 of the parameters of all cells.
std::uint64_t parameter_hash(Arena& arena);

/// Compares the parameters of all ranks, before the first rank writes them into a checkpoint: ranks
/// that differ have a hardware fault, or there is an error in this program.
/// @throws Error on every rank, naming the step and the ranks that differ from the first one.
void require_equal_parameters(Collective& team, Arena& arena, std::int64_t step);

}  // namespace depthgrid
