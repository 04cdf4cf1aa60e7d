#pragma once

#include <cstdint>
#include <vector>

#include "models/routing_masks.hpp"

namespace depthgrid {

class Observer;

/// What one pass through a model is for. Evaluation is the default: no draws, no observers.
struct ForwardContext {
  bool training = false;
  std::int64_t step = 0;                              // training step, keys the draws
  std::int64_t first_row = 0;                         // global row of this rank's first row
  const std::vector<std::uint64_t>* seeds = nullptr;  // (E) model seeds; needed when training
  std::vector<Observer*> watch = {};
  RoutingMasks* recorded = nullptr;      // layers that leave out tokens note here which they took
  const RoutingMasks* forced = nullptr;  // ... and take exactly these instead of deciding
};

}  // namespace depthgrid
