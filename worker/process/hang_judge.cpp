#include "worker/process/hang_judge.hpp"

#include <algorithm>

namespace depthgrid {
namespace {

constexpr double kLeast = 900, kTimesLongest = 20, kOwnPause = 5;

}  // namespace

double HangJudge::limit() const {
  return limit_ ? *limit_ : std::max(kLeast, kTimesLongest * longest_);
}

std::optional<double> HangJudge::look(std::int64_t beats, double now) {
  const bool paused = now - last_look_ > kOwnPause;
  last_look_ = now;
  if (beats != beats_ || paused) {
    if (beats_ >= 0 && !paused) longest_ = std::max(longest_, now - since_);
    beats_ = beats;
    since_ = now;
    return std::nullopt;
  }
  const double silent = now - since_;
  return silent > limit() ? std::optional(silent) : std::nullopt;
}

}  // namespace depthgrid
