#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/context/execution_mode.hpp"

namespace depthgrid {

class Observer;
struct RoutingRecord;

/// How layers that may skip tokens are executed in one pass.
struct Execution {
  ExecutionMode mode = ExecutionMode::Dense;
  std::optional<Decider> decider = {};  // of students; none: the family's
  at::Tensor thresholds = {};           // (E, dynamic layers) of logits or scores; may be undefined
  at::Tensor forced = {};               // (E, B, T, L) bool: what each layer executes
  /// Values of an earlier pass that gradients are stopped at: the loss as autograd differentiates
  /// it, for finite differences. None: those of the pass itself. Read by family tdt in training.
  std::shared_ptr<const RoutingRecord> held = {};
};

/// What one pass through a model is for. Evaluation is the default: no draws, no observers.
struct ForwardContext {
  bool training = false;
  std::int64_t step = 0;                              // training step, keys the draws
  std::int64_t first_row = 0;                         // global row of this rank's first row
  const std::vector<std::uint64_t>* seeds = nullptr;  // (E) model seeds; needed when training
  std::vector<Observer*> watch = {};
  Control control = {};                       // what steers the depth; undefined: nothing does
  std::optional<Execution> execution = {};    // none: as the family trains, or decides by itself
  RoutingRecord* routing = nullptr;           // what dynamic layers did, where somebody asks
  std::vector<at::Tensor>* losses = nullptr;  // (E) sums over tokens of Family::loss_terms()
};

}  // namespace depthgrid
