#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/routing/surprise_gate.hpp"

namespace depthgrid {

/// Record of one dynamic layer in one pass; tensors are detached (but see RoutingRecord::attached),
/// undefined if not applicable.
struct LayerRouting {
  std::int64_t layer = 0;          // 0-based block
  at::Tensor executed = {};        // (E, B, T) bool: tokens that passed through the block
  at::Tensor logits = {};          // (E, B, T) of the router that decides before the block
  at::Tensor score = {};           // (E, B, T) ranked by a teacher's TopK
  at::Tensor target = {};          // (E, B, T) bool: the teacher's choice
  bool first = false;              // token 0 is executed whatever its score
  GateSignals signals = {};        // tdt
  GateScalars scalars = {};        // tdt
  at::Tensor residual = {};        // (E, B, T, C) Δx of the dense pass; tdt
  at::Tensor predicted = {};       // (E, B, T, C) Δx̂; tdt
  at::Tensor execution_gate = {};  // (E, B, T) σ(r); mod
};

/// Filled by the layers of a pass, in order.
struct RoutingRecord {
  bool teach = false;     // in: also run the teacher in modes that do not need it
  bool attached = false;  // in: scalars keep their graph
  bool skips = false;     // in: dynamic layers report, and then pass their states on as they are
  std::vector<LayerRouting> layers;
};

}  // namespace depthgrid
