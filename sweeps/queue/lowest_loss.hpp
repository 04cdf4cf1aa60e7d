#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/nan.hpp"

namespace depthgrid {

/// The lowest dev loss of a cell so far, and how many evaluations ago it was.
struct LowestLoss {
  double best = kNaN;                    // NaN before the first one
  std::vector<std::int64_t> improved{};  // steps whose loss was the lowest so far, in order
  std::int64_t since = 0;                // evaluations since the best one

  enum class Verdict : std::uint8_t { Better, NotBetter, OutOfPatience };

  /// Adds an evaluation. @param least  decrease needed to count as better.
  /// @param patience  evaluations without a better one that are allowed; none: any number.
  Verdict see(std::int64_t step, double loss, double least, std::optional<std::int64_t> patience);
};

}  // namespace depthgrid
