#pragma once

#include <cstddef>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {

/// What the readout would predict from the state at each depth: its loss, and the share of tokens
/// for which its most probable token is that of the last depth. Mean over the probe set's tokens.
///
/// The readout was trained on the last state only, so a high loss at an early depth does not say
/// that the state lacks the information. Source: nostalgebraist (2020), "interpreting GPT: the
/// logit lens".
class LogitLensProbe final : public Probe {
 public:
  /// @param subject  outlives the probe.
  LogitLensProbe(const ProbeSubject& subject, ProbeSchedule schedule);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  const ProbeSubject& subject_;
  ProbeSchedule schedule_;
  std::size_t loss_ = 0, agreement_ = 0;
};

}  // namespace depthgrid
