#pragma once

#include <filesystem>

namespace depthgrid {

/// Where the processes of a launch note how they end. A launcher that ends the other ranks may
/// return their signal in the place of the code of the one that failed first (srun
/// --kill-on-bad-exit does), and the supervisor would take a hang or a crash for a kill from
/// outside, or blame another node. @param file  its folder must exist; empty: nothing is noted.
void note_ends_in(const std::filesystem::path& file);

/// Notes the exit code of this process (128 + signal for a fault) and, on the next line, its node,
/// unless another process was first.
/// May be called by a signal handler.
void note_end(int code) noexcept;

}  // namespace depthgrid
