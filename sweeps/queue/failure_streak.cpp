#include "sweeps/queue/failure_streak.hpp"

#include <fmt/format.h>

namespace depthgrid {

std::optional<std::string> FailureStreak::over() const {
  if (failed_ < most_) return std::nullopt;
  return fmt::format(
      "{} jobs in a row have failed for good (retry.stop_after_consecutive = {}): what they share "
      "may be wrong, so no other one is started. depthgrid status shows why each has failed; the "
      "same command tries them, and the rest, again",
      failed_, most_);
}

}  // namespace depthgrid
