#include "worker/session/cancel_service.hpp"

#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {
namespace {

std::vector<CellId> ids_of(const TrainedJob& job) {
  std::vector<CellId> out;
  for (const std::size_t row : job.job.rows) out.push_back(job.run.sweep.cells.at(row).id);
  return out;
}

}  // namespace

CancelService::CancelService(TrainedJob& job, SessionRecorder& recorder)
    : job_(job), recorder_(recorder), requests_(job.run.store, ids_of(job)) {}

void CancelService::poll() {
  since_ = Stopwatch();
  for (const std::size_t e : requests_.poll()) {
    if (!job_.running(e)) continue;
    job_.cells.retire(static_cast<std::int64_t>(e), CellStatus::Cancelled);
    recorder_.cancel_cell(e);
    const std::size_t row = job_.job.rows[e];
    log_quietly(LogLevel::Info, job_.run.sweep.cells[row].alias + ": cancelled");
    job_.run.progress.cell_cancelled(row);
  }
}

}  // namespace depthgrid
