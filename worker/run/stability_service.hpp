#pragma once

#include <cstdint>

#include "worker/eval/eval_plan.hpp"
#include "worker/run/session_recorder.hpp"
#include "worker/run/session_service.hpp"
#include "worker/run/stability_watch.hpp"
#include "worker/run/trained_job.hpp"

namespace depthgrid {

/// Records cells whose state-space layers have ceased to forget: before training, at evaluations
/// and at the end.
class StabilityService final : public SessionService {
 public:
  /// All outlive this.
  StabilityService(const TrainedJob& job, const EvalPlan& evals, SessionRecorder& recorder)
      : job_(job),
        evals_(evals),
        recorder_(recorder),
        watch_(*job.fused.model, job.fused.options) {}

  void begin(std::int64_t step) override { look(step); }
  bool due(std::int64_t step) const override { return evals_.due(step, job_.steps()); }
  void act(const StepEvent& event) override { look(event.step); }
  void end(std::int64_t step) override { look(step); }

  /// See StabilityWatch::log().
  void log() const { watch_.log(); }

 private:
  void look(std::int64_t step);

  const TrainedJob& job_;
  const EvalPlan& evals_;
  SessionRecorder& recorder_;
  StabilityWatch watch_;
};

}  // namespace depthgrid
