#include "worker/run/job_probes.hpp"

#include "worker/run/probe_table.hpp"

namespace depthgrid {

JobProbes::JobProbes(const TrainedJob& job, SessionRecorder& recorder)
    : job_(job), recorder_(recorder), probes_(make_probes(job)) {}

void JobProbes::look(std::int64_t step) {
  probes_.look(step, recorder_.cells());
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    if (!job_.running(e)) recorder_.cell(e).drop_probes();
  }
}

}  // namespace depthgrid
