#include "sweeps/live/hang_judge.hpp"

#include <algorithm>
#include <limits>

namespace depthgrid {
namespace {

constexpr double kLeast = 900, kTimesLongest = 20, kOwnPause = 5;
constexpr double kFromOutside = 24;  // factor of phases that a watchdog does not judge

}  // namespace

HangLimit hang_limit(double seconds) {
  if (seconds < 0) return std::numeric_limits<double>::infinity();
  return seconds > 0 ? HangLimit(seconds) : HangLimit();
}

double HangJudge::limit(WorkPhase phase) const {
  double factor = rule_of(phase).factor;
  if (factor <= 0) {
    if (behind_ <= 0) return std::numeric_limits<double>::infinity();
    factor = kFromOutside;
  }
  return factor * limit_.value_or(std::max(kLeast, kTimesLongest * longest_)) + behind_;
}

std::optional<double> HangJudge::observe(std::int64_t beats, WorkPhase phase, double now) {
  const bool paused = now - last_observed_ > kOwnPause;
  last_observed_ = now;
  if (beats != beats_ || paused) {
    // A long start says nothing about the pauses of training.
    const bool typical = rule_of(phase_).factor == 1;
    if (beats_ >= 0 && !paused && typical) longest_ = std::max(longest_, now - since_);
    beats_ = beats;
    phase_ = phase;
    since_ = now;
    return std::nullopt;
  }
  phase_ = phase;
  const double silent = now - since_;
  return silent > limit(phase) ? std::optional(silent) : std::nullopt;
}

}  // namespace depthgrid
