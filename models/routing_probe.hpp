#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_set.hpp"
#include "models/calibration.hpp"
#include "models/model.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// The leaves probes.routing.*.
struct RoutingProbeOptions {
  ProbeSchedule schedule;
  std::int64_t masks = 8;  // sequences whose masks are kept, of those that are measured
  std::int64_t batch = 1;  // sequences of a pass with gradients
};

/// Which tokens layers skip, and how good their gates, networks and routers are at choosing: under
/// the mode in which the cell trains, and under its student with its default decider, whose
/// thresholds, if it has any, are calibrated on the probe set itself. The names of the variables
/// say under which; formulas: routing_statistics.hpp, execution_masks.hpp.
///
/// Measures no more than 16 sequences, of which signals of all tokens are kept at once, and for
/// gradients at no more than 8.
class RoutingProbe final : public Probe {
 public:
  /// @param model  one whose layers skip tokens. @param set  both outlive the probe.
  /// @throws Error if masks of more sequences are wanted than it measures.
  RoutingProbe(const Model& model, const ProbeSet& set, RoutingProbeOptions options);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return options_.schedule; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  at::Tensor tokens(std::int64_t first, std::int64_t count) const;
  RoutingRecord record_of(const Execution& execution) const;
  CalibratedStudent student_on_set() const;
  at::Tensor scalar_gradient_norms(std::int64_t step) const;
  void write_student(const RoutingRecord& student, RecordSink& out) const;
  void write_masks(std::size_t series, const RoutingRecord& record, at::Tensor LayerRouting::* mask,
                   RecordSink& out) const;
  void write_rows(std::size_t series, const std::vector<double>& all, RecordSink& out) const;

  const Model& model_;
  const ProbeSet& set_;
  RoutingProbeOptions options_;
  std::int64_t sequences_;
  std::vector<std::size_t> statistics_;
  std::size_t blocks_ = 0, unexecuted_ = 0, longest_ = 0, fill_ = 0, bytes_ = 0;
  std::optional<std::size_t> threshold_, gradients_, capacity_mask_, rate_mask_;
};

}  // namespace depthgrid
