#pragma once

#include <string>

#include "models/forward_context.hpp"

namespace depthgrid {

/// What a family says of one way of executing it: that a logit depends on no later token, or that
/// it does, and why. Every claim is checked by the audit before anything trains; what is not
/// declared is taken to be causal.
struct CausalClaim {
  std::string name;             // "training", "evaluation", or of the family's own
  ForwardContext context = {};  // runs the model so; seeds are filled in
  bool causal = true;
  std::string reason = {};  // of a mode that is not causal: what looks ahead
};

/// A parameter that is there and that the training loss does not reach.
struct DeadParameter {
  std::string name;
  std::string reason;
};

}  // namespace depthgrid
