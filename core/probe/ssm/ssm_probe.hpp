#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {

/// The state-space layers of a model at the depths of its steps: the step Δ(t) of each state, the
/// eigenvalues of the discrete transition, what follows from them for the memory along the
/// sequence, and the size of the states on the probe set. The layers are linear and the same for
/// all tokens, so all but the last needs no text.
class SsmProbe final : public Probe {
 public:
  /// @param subject   outlives the probe; has state-space layers.
  /// @param batch     sequences that are in memory at once.
  /// @throws Error if there are no such layers.
  SsmProbe(const ProbeSubject& subject, ProbeSchedule schedule, std::int64_t batch);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  enum Series : std::uint8_t { kDelta, kRadius, kHorizon, kReal, kImag, kNorm, kSeries };

  /// @param table  (E, ...).
  void write(Series series, const at::Tensor& table, RecordSink& out) const;
  /// RMS of the states over tokens, sequences and states: (E, L) double.
  at::Tensor state_norms() const;

  const ProbeSubject& subject_;
  ProbeSchedule schedule_;
  std::int64_t batch_;
  bool discretised_ = false;
  std::array<std::size_t, kSeries> series_{};
};

}  // namespace depthgrid
