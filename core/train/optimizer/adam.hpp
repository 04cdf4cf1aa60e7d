#pragma once

#include <memory>

#include "core/base/isa.hpp"
#include "core/train/optimizer/update_rule.hpp"

namespace depthgrid {

/// Scalars of one (cell, group) as Adam's inner loop needs them, computed in float64 and rounded
/// once.
struct AdamRates {
  float gradient_factor, l2, beta1, rest1, beta2, rest2, inverse_root, eps, step_size, decay;
};

/// m_hat / (sqrt(v_hat) + eps) with both bias corrections folded into two scalars:
/// step_size = lr / (1 - beta1^t), inverse_root = 1 / sqrt(1 - beta2^t).
/// @param scalars    `own` holds beta1, beta2 and eps.
/// @param decoupled  AdamW: p is multiplied by 1 - lr * wd; else wd * p is added to the gradient.
AdamRates adam_rates(const GroupScalars& scalars, bool decoupled);

/// Moments: the mean of the (clipped) gradient and of its square.
/// Source: Kingma & Ba (2015), algorithm 1.
std::unique_ptr<UpdateRule> make_adam();

/// The same with decoupled decay. Source: Loshchilov & Hutter (2019), algorithm 2.
std::unique_ptr<UpdateRule> make_adamw();

/// The inner loop over one block. All variants round identically (no fused multiply-add), so that
/// the choice affects only the time.
BlockSums adam_update(const ParameterBlock& block, const AdamRates& rates, Isa isa = isa_in_use());

}  // namespace depthgrid
