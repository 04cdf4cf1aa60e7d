#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/probe/probe.hpp"
#include "worker/run/cell_recorder.hpp"

namespace depthgrid {

/// The probes of a job on its first rank: lets them look when they are due and records what they
/// see in the journals of the job's cells.
class ProbeService final : public RecordSink {
 public:
  explicit ProbeService(std::vector<std::unique_ptr<Probe>> probes);

  /// What the probes have declared: RecordShape::series of the recorders.
  const std::vector<SeriesSpec>& series() const noexcept { return series_; }

  bool due(std::int64_t step) const;

  /// Lets every probe that is due after `step` steps look. What they see goes into one row per
  /// cell, with the numbers of any evaluation of the same step: evaluate after this, then call
  /// CellRecorder::put_probes().
  /// @param recorders  one per cell of the job, in its order.
  void look(std::int64_t step, std::span<CellRecorder> recorders);

  std::size_t declare(const SeriesSpec& series) override;
  void write(std::size_t series, std::size_t cell, std::span<const double> values) override;

 private:
  std::vector<std::unique_ptr<Probe>> probes_;
  std::vector<SeriesSpec> series_;
  std::span<CellRecorder> recorders_;  // while probes look
};

}  // namespace depthgrid
