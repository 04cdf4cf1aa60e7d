#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// Mixture-of-Depths: dynamic layers execute the k tokens of each sequence whose router weight
/// r = w · x is highest, x <- x + h σ(r) F over the executed tokens in the order of the text; other
/// tokens keep their state. The TopK is not causal, so a small predictor learns it from each token
/// alone (without gradient into the trunk) and decides at inference.
/// A dynamic layer has layers.i.router.weight and layers.i.predictor.
/// Source: Raposo et al. (2024), arXiv 2404.02258, sections 3.3 to 3.5.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_mod(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
