#pragma once

#include <cstdint>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

/// At which steps a probe looks, of a training of known length. A schedule that is on looks at step
/// 0 (before the first) and at the last one too; `end` at the last one alone.
class ProbeSchedule {
 public:
  /// Never.
  ProbeSchedule() = default;

  /// @param leaf   `off`, `end`, {every: n}, {at: [steps, or texts like "10 %"]} or
  ///               {log_spaced: n}: n steps of equal ratio from 1 to the last.
  /// @param steps  of the training. Steps beyond it are left out.
  /// @throws UserError (Usage) naming the value and what is expected.
  ProbeSchedule(const Value& leaf, std::int64_t steps);

  /// @param step  optimiser steps done. Cheap: asked after every step.
  bool due(std::int64_t step) const;

  /// How often it looks in all.
  std::int64_t count() const;

 private:
  std::int64_t every_ = 0;  // 0: `at_` says all
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> at_;  // ascending
};

}  // namespace depthgrid
