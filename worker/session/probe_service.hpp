#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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
  /// Told when probes begin to look, and how long they took for which cells.
  std::function<void()> begins = [] {};
  std::function<void(double seconds, const std::vector<std::size_t>& cells)> took =
      [](double, const std::vector<std::size_t>&) {};
};

/// The probes of a job on its first rank: lets them look when they are due, and records what they
/// see in the journals of the job's cells. Acts after the evaluation, whose numbers share its row.
class ProbeService final : public SessionService, public RecordSink {
 public:
  /// The recorders of a job's cells in its order; null for those that have not made this step.
  using Recorders = std::function<std::vector<CellRecorder*>(std::int64_t step)>;
  ProbeService(JobProbes probes, Recorders recorders, ProbeHooks hooks = {});

  /// What the probes have declared: RecordShape::series of the recorders.
  const std::vector<SeriesSpec>& series() const noexcept { return series_; }

  void begin(std::int64_t step) override {
    if (step == 0) look(0);
  }
  bool due(std::int64_t /*step*/) const override { return true; }
  void act(const StepEvent& event) override { look(event.step); }

  /// Lets the probes look that are due after `step` steps, and writes the cells' rows. At a cell
  /// that has just stopped early, which has its last step now, all of them look.
  void look(std::int64_t step);

  std::size_t declare(const SeriesSpec& series) override;
  void write(std::size_t series, std::size_t cell, std::span<const double> values) override;
  void keep(std::size_t cell, const StateRecord& record) override;

 private:
  JobProbes probes_;
  Recorders recorders_;
  ProbeHooks hooks_;
  std::vector<SeriesSpec> series_;
  std::vector<CellRecorder*> cells_;  // of this look
};

}  // namespace depthgrid
