#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/context/direction_record.hpp"
#include "models/context/execution_mode.hpp"

namespace depthgrid {

class Observer;
struct RoutingRecord;

/// How layers that may skip tokens are executed in one pass.
struct Execution {
  ExecutionMode mode = ExecutionMode::Dense;
  std::optional<Decider> decider = {};  // of students; none: the family's default
  at::Tensor thresholds = {};           // (E, dynamic layers) of logits or scores; may be undefined
  at::Tensor forced = {};               // (E, B, T, L) bool: what each layer executes
  /// Stop-gradient values, taken from an earlier pass: makes the loss the function that autograd
  /// differentiates, for finite differences. Null: this pass's own. Read by family tdt in training.
  std::shared_ptr<const RoutingRecord> held = {};
};

/// Settings of one pass through a model. Evaluation is the default: no draws, no observers.
struct ForwardContext {
  bool training = false;
  /// The steps along depth are composed of operations that autograd can differentiate twice, as a
  /// derivative along a direction needs: slower than the kernels, equal to them up to rounding.
  bool composed = false;
  std::int64_t step = 0;                              // training step, keys the draws
  std::int64_t first_row = 0;                         // global row of this rank's first row
  const std::vector<std::uint64_t>* seeds = nullptr;  // (E) model seeds; needed when training
  std::vector<Observer*> watch = {};
  Control control = {};                     // control signal; undefined: none
  std::optional<Execution> execution = {};  // none: the family's default
  bool bypass = false;                      // the states pass by a flow in place of layers
  RoutingRecord* routing = nullptr;         // out: what dynamic layers did; null: not recorded
  /// out: states (E, B, T, N) of each state-space layer after each token; null: not recorded
  std::vector<at::Tensor>* state_space = nullptr;
  std::vector<at::Tensor>* losses = nullptr;         // (E) sums over tokens of Model::loss_terms()
  std::shared_ptr<DirectionRecord> directions = {};  // in or out; null: nobody asks
  /// Receives the weights (E B, H, T, T) of every attention that is computed explicitly, as it is
  /// in a composed pass; null: nobody asks.
  const std::function<void(const at::Tensor&)>* attention = nullptr;
};

}  // namespace depthgrid
