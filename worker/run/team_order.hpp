#pragma once

#include <optional>

#include "distributed/collective.hpp"
#include "sweeps/queue/job_queue.hpp"

namespace depthgrid {

// How the first rank of a team, which claims jobs in the store, sends the others what to train.

/// On the first rank: sends the job that all begin now, or the end of the work. Does nothing in a
/// team of one.
void tell_job(Collective& team, const SessionJob& job);
void tell_end(Collective& team);

/// On the other ranks: receives it. @return nothing at the end of the work.
std::optional<SessionJob> hear_job(Collective& team);

}  // namespace depthgrid
