#include "worker/run/team_work.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "models/options/model_options.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/job_retry.hpp"
#include "worker/run/job_session.hpp"
#include "worker/run/job_trainer.hpp"
#include "worker/run/team_order.hpp"

namespace depthgrid {
namespace {

void wait_for_others() {
  for (int i = 0; i < 10 && !stop_requested(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::int64_t parameter_count(const CellConfig& config) {
  return layout_of(model_options({&config})).size();
}

}  // namespace

TeamOutcome lead_team(const RunContext& run, const RunOrder& order, std::vector<FusedJob> jobs) {
  LeaseKeeper leases({.ttl = std::chrono::seconds(run.sweep.run.integer("resources.lease"))});
  JobQueue queue(run.sweep, run.store, leases, std::move(jobs), parameter_count,
                 run.sweep.run.integer("retry.crash"));
  JobRetry retry(run, order, leases, queue);
  JobTrainer trainer(run, queue, retry);
  run.progress.sweep(queue.completed(), static_cast<std::int64_t>(run.sweep.cells.size()));
  bool stopped = false;
  while (!stopped) {
    std::optional<Claim> claim;
    const JobQueue::State state = queue.next(claim);
    if (state == JobQueue::State::Finished) break;
    if (state == JobQueue::State::Claimed) {
      stopped = trainer.train(std::move(*claim));
    } else {
      wait_for_others();
    }
    stopped = stopped || stop_requested();
  }
  tell_end(run.team);
  return {stopped, queue.failed(), retry.code()};
}

TeamOutcome follow_team(const RunContext& run) {
  TeamOutcome outcome;
  while (auto job = hear_job(run.team)) {
    std::vector<ClaimedCell> none;
    reset_peak_memory(run.device);
    JobSession session(run, std::move(*job), none);
    outcome.stopped = session.run() == SessionEnd::Stopped || outcome.stopped;
  }
  return outcome;
}

}  // namespace depthgrid
