#pragma once

#include <cstdint>
#include <vector>

#include "core/base/exit_code.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {

/// Outcome of one rank's part of a run.
struct TeamOutcome {
  bool stopped = false;            // by a signal
  std::int64_t failed = 0;         // cells that this team has given up
  ExitCode code = ExitCode::Done;  // of a process for one cell
};

/// The first rank of a team: claims jobs in the store until every cell is done, by any run, or a
/// signal arrives, and trains them with its team.
TeamOutcome lead_team(RunContext& run, const RunCommand& command, std::vector<FusedJob> jobs);

/// The other ranks: train what the first one sends.
TeamOutcome follow_team(RunContext& run);

/// Cells of a claim resume with the bits of an undisturbed run only if as many ranks as before sum
/// their gradients, on the same kind of device.
/// @throws UserError (BadConfig) otherwise, unless `resources.allow_inexact` is set. It names the
///         cell, both numbers and what to do. Nothing has been written then.
void require_exact_resume(const RunContext& run, const Claim& claim);

}  // namespace depthgrid
