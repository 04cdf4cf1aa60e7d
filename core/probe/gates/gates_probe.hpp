#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {

/// The leaves probes.gates.*.
struct GatesOptions {
  ProbeSchedule schedule;
  std::int64_t bins = 32;
  std::int64_t grid = 64;  // depth-times j/(grid - 1)
};

/// What the gates on the weights do: at the steps of the depth, by type of weight, and between
/// them, on a fine grid of depth-times. Needs no text. Formulas: gate_measures.hpp.
///
/// The power spectrum is that of the mean gate over depth-time from 0 to 1, taken as one period, so
/// the last point of the fine grid is left out. Other factors of the steps (DepthFactor) are
/// summarised at the steps alone.
class GatesProbe final : public Probe {
 public:
  /// @param subject  a model with gates or other factors; outlives the probe.
  GatesProbe(const ProbeSubject& subject, const GatesOptions& options);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return options_.schedule; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  void declare_factors(RecordSink& out);
  void measure_gates(RecordSink& out);
  void measure_factors(RecordSink& out);

  const ProbeSubject& subject_;
  GatesOptions options_;
  at::Tensor times_;  // (E, L + grid) of the steps, then of the fine grid; undefined without gates
  std::int64_t steps_;
  std::size_t mean_ = 0, std_ = 0, min_ = 0, max_ = 0, share_ = 0, variation_ = 0, fine_ = 0,
              power_ = 0;
  std::vector<std::string> types_;                     // of weight
  std::optional<std::size_t> saturation_, histogram_;  // of gates with a range
  std::array<std::size_t, 4> factors_{};               // mean, std, min, max; if there are any
};

}  // namespace depthgrid
