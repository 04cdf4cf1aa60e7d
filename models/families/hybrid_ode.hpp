#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// Blocks layers.0 ... layers.a-1 as in `standard`, then a flow in place of the layers [a, b), then
/// the blocks layers.b ... layers.L-1.
///
/// The flow is H' = f(H, τ, u) from τ = 0 to 1 in m steps of `model.solver.method`
/// (blocks/flow.hpp). Field `block` is the baseline without an ODE: one ordinary block, applied m
/// times with step length 1. Blocks are named as in `standard`, so that those that remain start
/// from the same weights.
/// @param o  must outlive the family.
/// Source: second study, section 3; Chen et al. (2018), arXiv 1806.07366.
std::unique_ptr<Family> make_hybrid_ode(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
