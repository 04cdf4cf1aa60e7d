#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// A block whose weights are functions of depth-time, θ(t) = g(e(t)), under Euler with Δt = 1/L:
/// x <- x + Δt·F(x; θ(t_i)). Q, K, V, out, up and down are generated; their biases, too, unless
/// configured otherwise. One set of generators ("block") serves all depths, so the size does not
/// depend on L; with `model.share: none` each layer has its own ("layers.0" ...), called the
/// standard transformer in the study's published program.
/// Source: Tong et al. (2025), "Neural ODE Transformers", ICLR; first study, section 2.2.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_tong(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
