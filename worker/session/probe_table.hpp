#pragma once

#include <memory>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// The probes of a job and what they look at.
struct JobProbes {
  std::unique_ptr<ProbeSubject> subject;  // null if no probe is on
  std::vector<std::unique_ptr<Probe>> probes;
};

/// The probes that the leaves `probes.*` of a job's cells switch on, in the order of the table.
/// They refer to the job, which must outlive them.
JobProbes make_probes(const TrainedJob& job);

}  // namespace depthgrid
