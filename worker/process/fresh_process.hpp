#pragma once

#include "core/base/cell.hpp"
#include "core/base/exit_code.hpp"
#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// Trains one cell of the order in a process of its own, outside of any launcher: memory that this
/// process holds in pieces, or a device that it has spoilt, is not in its way. Waits for its end
/// and hands a stop on to it; frees what this process has only put aside.
/// @return Done, TempFail, OutOfMemory (also if the system killed it for its memory), or whatever
///         else the process ended with: 128 + n for a signal.
int train_apart(RunOrder order, const CellId& cell, bool on_gpu);

}  // namespace depthgrid
