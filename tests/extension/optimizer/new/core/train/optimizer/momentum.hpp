#pragma once

#include <memory>

#include "core/train/optimizer/update_rule.hpp"

namespace depthgrid {

/// Scalars of one (cell, group) as the inner loop of momentum needs them.
struct MomentumRates {
  float gradient_factor, beta, lr, decay;
};

/// Gradient descent with momentum: m <- beta m + g, p <- (1 - lr wd) p - lr m.
/// Source: Polyak (1964), section 2; decay decoupled as in Loshchilov & Hutter (2019), algorithm 1.
std::unique_ptr<UpdateRule> make_momentum();

}  // namespace depthgrid
