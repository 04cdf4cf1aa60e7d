#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/processes.hpp"

namespace depthgrid {

/// What is wrong with this node, seen before a task of Slurm begins on it: Slurm has no idea of the
/// health of cards, and the same broken node would get one task after the other. Without nvidia-smi
/// nothing is known.
/// @param run    runs a command, for so many seconds at most.
/// @param cards  that the task has been given; 0: nothing is examined.
std::optional<std::string> node_fault(const CommandRunner& run, std::int64_t cards);

}  // namespace depthgrid
