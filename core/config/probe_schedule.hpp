#pragma once

#include <cstdint>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

/// The steps at which a probe measures, for a training of known length. `end` is the last step
/// only; every other schedule that is on includes step 0 (before the first) and the last one.
class ProbeSchedule {
 public:
  /// Never.
  ProbeSchedule() = default;

  /// @param leaf   `off`, `end`, {every: n}, {at: [steps, or texts like "10 %"]} or
  ///               {log_spaced: n}: n steps of equal ratio from 1 to the last.
  /// @param steps  of the training. Later steps are ignored.
  /// @throws UserError (Usage) naming the value and what is expected.
  ProbeSchedule(const Value& leaf, std::int64_t steps);

  /// @param step  optimiser steps done. Cheap: asked after every step.
  bool due(std::int64_t step) const;

  /// Total number of measurements.
  std::int64_t count() const;

 private:
  std::int64_t every_ = 0;  // 0: `at_` lists all steps
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> at_;  // ascending
};

}  // namespace depthgrid
