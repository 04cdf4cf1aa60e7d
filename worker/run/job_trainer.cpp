#include "worker/run/job_trainer.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/run/job_session.hpp"
#include "worker/run/team_order.hpp"

namespace depthgrid {
namespace {

/// Ends the attempts of a job and releases its cells.
void give_back(const RunContext& run, Claim& claim, std::optional<JobSession>& session,
               const AttemptProblem& problem) {
  if (session) {
    session->abandon(problem);
  } else {  // it never began: the attempt is recorded anyway
    for (ClaimedCell& cell : claim.cells) {
      if (!cell.lease.valid()) continue;
      CellRecorder(run.store, run.plan, run.plan.cells.at(cell.row), std::move(cell.lease),
                   claim.job.first_step, attempt_json(run, claim.job), {})
          .abandon(claim.job.first_step, problem);
    }
  }
  claim.cells.clear();
  session.reset();
}

AttemptProblem memory_problem(std::size_t cells, double peak) {
  return {AttemptOutcome::Oom, ExitCode::OutOfMemory,
          cells == 1 ? EventKind::Failure : EventKind::Warning, peak,
          "out of memory with " +
              (cells == 1 ? std::string("one cell alone") : fmt::format("{} cells: split", cells))};
}

}  // namespace

bool JobTrainer::train(Claim claim) {
  std::vector<std::int64_t> generations;
  for (const ClaimedCell& cell : claim.cells) generations.push_back(cell.lease.generation());
  tell_job(run_.team, claim.job);
  reset_peak_memory(run_.device);
  std::optional<JobSession> session;
  try {
    session.emplace(run_, claim.job, claim.cells);
    if (session->run() == SessionEnd::Stopped) return true;
  } catch (const std::exception& problem) {
    if (run_.team.size() > 1) throw;
    const std::string text = problem.what();
    const bool begun = session.has_value();
    if (is_out_of_memory(problem)) {
      const double peak = peak_device_memory_bytes(run_.device);
      give_back(run_, claim, session, memory_problem(claim.job.rows.size(), peak));
      if (begun) run_.progress.job_ended("out of memory");
      return retry_.out_of_memory(claim.job, generations, peak);
    }
    give_back(run_, claim, session,
              {AttemptOutcome::Error, ExitCode::Failed, EventKind::Failure, 0, text});
    if (begun) run_.progress.job_ended("failed");
    // A full disk or damaged data concerns every cell.
    if (dynamic_cast<const UserError*>(&problem) != nullptr) throw;
    retry_.fail(claim.job, generations, CellStatus::Failed, "error", text);
    return false;
  }
  session.reset();
  run_.progress.sweep(queue_.completed(), static_cast<std::int64_t>(run_.sweep.cells.size()));
  run_.progress.job_ended("done");
  return false;
}

}  // namespace depthgrid
