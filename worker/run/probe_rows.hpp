#pragma once

#include <cstdint>

#include "worker/run/session_recorder.hpp"
#include "worker/run/session_service.hpp"

namespace depthgrid {

/// Writes each cell's row that probes and an evaluation of the same step have filled.
class ProbeRows final : public SessionService {
 public:
  /// @param recorder  outlives this.
  explicit ProbeRows(SessionRecorder& recorder) : recorder_(recorder) {}

  void begin(std::int64_t step) override { write(step); }
  bool due(std::int64_t /*step*/) const override { return true; }
  void act(const StepEvent& event) override { write(event.step); }

 private:
  void write(std::int64_t step) {
    for (CellRecorder& cell : recorder_.cells()) cell.put_probes(step);
  }

  SessionRecorder& recorder_;
};

}  // namespace depthgrid
