#pragma once

#include "sweeps/queue/job_queue.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {

/// Cells of a claim resume with the bits of an undisturbed run only if as many ranks as before sum
/// their gradients, on the same kind of device.
/// @throws UserError (BadConfig) otherwise, unless `resources.allow_inexact` is set. It names the
///         cell, both numbers and what to do. Nothing has been written then.
void require_exact_resume(const RunContext& run, const Claim& claim);

}  // namespace depthgrid
