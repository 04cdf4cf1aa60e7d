#pragma once

#include <cstdint>
#include <vector>

#include "worker/run/probe_service.hpp"
#include "worker/run/session_recorder.hpp"
#include "worker/run/session_service.hpp"
#include "worker/run/trained_job.hpp"

namespace depthgrid {

/// Lets the probes of a job look at its cells in training when due. What they see stays in the
/// recorders until ProbeRows writes it, so that an evaluation of the same step shares the row.
class JobProbes final : public SessionService {
 public:
  /// Both outlive this.
  JobProbes(const TrainedJob& job, SessionRecorder& recorder);

  /// What the probes write: RecordShape::series.
  const std::vector<SeriesSpec>& series() const noexcept { return probes_.series(); }

  void begin(std::int64_t step) override {
    if (step == 0 && due(0)) look(0);
  }
  bool due(std::int64_t step) const override { return probes_.due(step); }
  void act(const StepEvent& event) override { look(event.step); }

 private:
  void look(std::int64_t step);

  const TrainedJob& job_;
  SessionRecorder& recorder_;
  ProbeService probes_;
};

}  // namespace depthgrid
