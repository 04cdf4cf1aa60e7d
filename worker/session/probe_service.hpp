#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/probe/probe.hpp"
#include "worker/session/cell_recorder.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/session_service.hpp"

namespace depthgrid {

/// How probes take part in a session.
struct ProbeHooks {
  /// Whether a cell that has made this step makes no further one, before the training's last.
  std::function<bool(std::size_t cell)> stopped = [](std::size_t) { return false; };
  /// Called when probes begin to measure.
  std::function<void()> begins = [] {};
  /// Receives how long a probe took, and for which cells: all that are recorded, or only those that
  /// have just stopped.
  std::function<void(const std::string& probe, double seconds,
                     const std::vector<std::size_t>& cells)>
      took = [](const std::string&, double, const std::vector<std::size_t>&) {};
};

/// The probes of a job on its first rank: lets them measure when they are due, and records what
/// they see in the journals of the job's cells. Acts after the evaluation, whose numbers share its
/// row.
class ProbeService final : public SessionService, public RecordSink {
 public:
  /// The recorders of a job's cells in its order; null for those that have not made this step.
  using Recorders = std::function<std::vector<CellRecorder*>(std::int64_t step)>;
  /// @throws Error unless each probe has a name.
  ProbeService(JobProbes probes, Recorders recorders, ProbeHooks hooks = {});

  /// What the probes have declared: RecordShape::series of the recorders.
  const std::vector<SeriesSpec>& series() const noexcept { return series_; }
  /// What the probes follow at every step; they live as long as this.
  const ProbeWatchList& watches() const noexcept { return probes_.watches; }

  void begin(std::int64_t step) override {
    if (step == 0) measure(0);
  }
  bool due(std::int64_t /*step*/) const override { return true; }
  void act(const StepEvent& event) override { measure(event.step); }

  /// Lets the probes measure that are due after `step` steps, and writes the cells' rows. At a cell
  /// that has just stopped early, which has its last step now, all of them measure; the time of
  /// those that were not due is that cell's.
  void measure(std::int64_t step);

  std::size_t declare(const SeriesSpec& series) override;
  void write(std::size_t series, std::size_t cell, std::span<const double> values) override;
  void keep(std::size_t cell, const StateRecord& record) override;

 private:
  JobProbes probes_;
  Recorders recorders_;
  ProbeHooks hooks_;
  std::vector<SeriesSpec> series_;
  std::vector<CellRecorder*> cells_;  // of this measurement
};

}  // namespace depthgrid
