#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/model.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Watches whether the recurrences of a model's state-space layers forget: whether the spectral
/// radius of every discretised transition is below one. Models without such a layer have nothing
/// to watch.
///
/// A diagonal A under ZOH or Euler with a non-negative gate cannot exceed radius one, whatever it
/// learns. All others can, and then the user should be warned.
class StabilityWatch {
 public:
  /// @param model  of o.cells cells; must outlive the watch.
  StabilityWatch(const Model& model, const ModelOptions& o);

  /// Cells in which some depth has ceased to forget since the last check, with its radius.
  /// @throws Error (a bug) if a radius that cannot exceed one does so by more than rounding.
  std::vector<std::pair<std::size_t, double>> check();

  /// Logs spectral radii over cells and depths and the longest memory to stderr: a warning if a
  /// recurrence does not forget. As of the last check; cells that have diverged are left out.
  void log() const;

 private:
  const Model& model_;
  bool bounded_;
  at::Tensor radii_;          // (E) the largest of a cell's depths, NaN of a diverged one
  std::vector<bool> warned_;  // (E)
};

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

  void begin(std::int64_t step) override { check(step); }
  bool due(std::int64_t step) const override { return evals_.due(step, job_.steps()); }
  void act(const StepEvent& event) override { check(event.step); }
  void end(std::int64_t step) override { check(step); }

  /// See StabilityWatch::log().
  void log() const { watch_.log(); }

 private:
  void check(std::int64_t step);

  const TrainedJob& job_;
  const EvalPlan& evals_;
  SessionRecorder& recorder_;
  StabilityWatch watch_;
};

}  // namespace depthgrid
