#pragma once

#include <optional>

#include "distributed/collective.hpp"
#include "sweeps/queue/claim.hpp"

namespace depthgrid {

// How the first rank of a team, which claims jobs in the store, tells the others what to train.

/// The first rank's part: the job they all begin now, or the end of the work. A team of one is
/// told nothing.
void tell_job(Collective& team, const SessionJob& job);
void tell_end(Collective& team);

/// The others' part. @return nothing at the end of the work.
std::optional<SessionJob> hear_job(Collective& team);

}  // namespace depthgrid
