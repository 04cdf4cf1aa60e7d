#pragma once

#include <cstdint>
#include <optional>

#include "worker/process/work_phase.hpp"

namespace depthgrid {

/// Leaf resources.hang: s without a sign of life; none: fifteen minutes, or twenty times the
/// longest pause seen so far where that is longer; infinity: for ever.
using HangLimit = std::optional<double>;

/// Decides from signs of life whether a process hangs. Pure: time comes from outside.
class HangJudge {
 public:
  explicit HangJudge(HangLimit limit) : limit_(limit) {}

  /// One look. A look that comes more than five seconds after the last one tells nothing: this
  /// process itself, or the machine, was stopped meanwhile, and the watch begins anew.
  /// @param beats  signs of life so far; to enter a phase is one. @param now  s, monotonic.
  /// @return seconds without one, if they are too many for the phase.
  std::optional<double> look(std::int64_t beats, WorkPhase phase, double now);

  /// s; infinity in a phase that is not judged.
  double limit(WorkPhase phase) const;

 private:
  HangLimit limit_;
  WorkPhase phase_ = WorkPhase::StartUp;  // of the last look
  std::int64_t beats_ = -1;
  double since_ = 0, last_look_ = 0, longest_ = 0;
};

}  // namespace depthgrid
