#include "sweeps/queue/crash_budget.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace depthgrid {

std::optional<std::string> died_too_often(const CellHistory& history, std::int64_t failed_before,
                                          std::int64_t budget) {
  std::int64_t furthest = -1, without_progress = 0;
  for (const AttemptRecord& attempt : history.attempts) {
    if (attempt.generation <= failed_before) continue;
    const bool crashed = !attempt.end;
    without_progress = crashed && attempt.last_step <= furthest ? without_progress + 1 : 0;
    furthest = std::max(furthest, attempt.last_step);
  }
  if (without_progress <= budget) return std::nullopt;
  return fmt::format("died {} times without getting beyond step {} (retry.crash = {})",
                     without_progress + 1, furthest, budget);
}

}  // namespace depthgrid
