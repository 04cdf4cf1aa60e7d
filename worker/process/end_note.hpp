#pragma once

#include <filesystem>

namespace depthgrid {

/// Where the processes of a launch note how they end. A launcher that ends the other ranks may
/// return their signal in the place of the code of the one that failed first (srun
/// --kill-on-bad-exit does), and the supervisor would take a hang or a crash for a kill from
/// outside, or blame another node. @param file  its folder must exist; empty: nothing is noted.
void note_ends_in(const std::filesystem::path& file);

/// Notes the exit code of this process (128 + signal for a fault) and, on the lines that follow,
/// its node and what is wrong with that, unless another process was first.
/// May be called by a signal handler.
/// @param here  false if the fault may as well be another node's: then none is named.
/// @param cause  NodeError::cause(); "": the node is not to blame.
void note_end(int code, bool here = true, const char* cause = "") noexcept;

}  // namespace depthgrid
