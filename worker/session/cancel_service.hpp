#pragma once

#include "core/base/clock.hpp"
#include "sweeps/queue/stop_requests.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Ends the cells of a job that a user has cancelled while it trains. They make no further step;
/// the others go on with the same numbers. It polls once per second, between two steps.
class CancelService final : public SessionService {
 public:
  /// Both outlive this.
  CancelService(TrainedJob& job, SessionRecorder& recorder);

  void begin(std::int64_t /*step*/) override { poll(); }
  bool due(std::int64_t /*step*/) const override { return since_.seconds() >= 1; }
  void act(const StepEvent& /*event*/) override { poll(); }

 private:
  void poll();

  TrainedJob& job_;
  SessionRecorder& recorder_;
  StopRequests requests_;
  Stopwatch since_;
};

}  // namespace depthgrid
