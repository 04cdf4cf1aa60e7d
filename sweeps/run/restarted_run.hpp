#pragma once

#include <cstddef>
#include <filesystem>

#include "core/config/sweep.hpp"
#include "sweeps/orders/orders.hpp"
#include "sweeps/run/run_request.hpp"

namespace depthgrid {

/// The one worker of a plain `run`, started again after a fault of its own for as long as the
/// leaves retry.* allow (sweeps/run/worker_restarts).
/// @param before  attempts_in() the store when the run began.
/// @return  the last one's exit code, or 128 + signal; TempFail after a stop between two of them.
int run_restarted(const RunRequest& request, std::size_t before);

}  // namespace depthgrid
