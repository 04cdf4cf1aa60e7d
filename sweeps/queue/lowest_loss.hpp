#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/nan.hpp"

namespace depthgrid {

/// The lowest dev loss of a cell so far, and how long ago it last fell by a margin.
struct LowestLoss {
  double best = kNaN;                    // NaN before the first evaluation of a trained cell
  std::vector<std::int64_t> improved{};  // steps whose loss was the lowest so far, in order
  double margin_below = kNaN;            // loss from which the next one must differ by `least`
  std::int64_t patient_since = -1;       // step of the evaluation that had it
  std::int64_t since = 0;                // evaluations since then

  /// Adds an evaluation. At step 0 it is not a candidate for the best: no checkpoint holds the
  /// initial weights, which the seed gives back.
  /// @param least     decrease that ends the wait. @param patience  evaluations without one that
  ///                  are allowed; none: any number.
  /// @return true if patience is over.
  bool see(std::int64_t step, double loss, double least, std::optional<std::int64_t> patience);
};

}  // namespace depthgrid
