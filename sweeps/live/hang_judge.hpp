#pragma once

#include <cstdint>
#include <optional>

#include "sweeps/live/work_phase.hpp"

namespace depthgrid {

/// Leaf resources.hang: s without a sign of life; none: fifteen minutes, or twenty times the
/// longest pause seen so far where that is longer; infinity: for ever.
using HangLimit = std::optional<double>;
/// Of RunCommand::hang: 0 = automatic, negative = for ever.
HangLimit hang_limit(double seconds);

/// How much later than the watchdog who watches from outside judges, s: signs take time to arrive,
/// and the watchdog knows more.
inline constexpr double kBehindItsWatchdog = 15;

/// Decides from signs of life whether a process hangs. Pure: time comes from outside.
class HangJudge {
 public:
  /// @param behind  0: the watchdog of the process itself; else kBehindItsWatchdog: from outside
  ///                every phase is judged, since a process that was stopped waits for nobody.
  explicit HangJudge(HangLimit limit, double behind = 0) : limit_(limit), behind_(behind) {}

  /// One observation. One that comes more than five seconds after the last one proves nothing: this
  /// process itself, or the machine, was stopped meanwhile, and the watch begins anew.
  /// @param beats  signs of life so far; to enter a phase is one. @param now  s, monotonic.
  /// @return seconds without one, if they are too many for the phase.
  std::optional<double> observe(std::int64_t beats, WorkPhase phase, double now);

  /// s; infinity in a phase that is not judged.
  double limit(WorkPhase phase) const;

 private:
  HangLimit limit_;
  double behind_;
  WorkPhase phase_ = WorkPhase::StartUp;  // of the last observation
  std::int64_t beats_ = -1;
  double since_ = 0, last_observed_ = 0, longest_ = 0;
};

}  // namespace depthgrid
