#pragma once

#include <memory>
#include <vector>

#include "core/probe/probe.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// The probes that the leaves `probes.*` of a job's cells switch on, in the order of the table.
/// They refer to the job, which must outlive them.
std::vector<std::unique_ptr<Probe>> make_probes(const TrainedJob& job);

}  // namespace depthgrid
