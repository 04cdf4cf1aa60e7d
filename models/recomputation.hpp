#pragma once

#include "models/options/model_options.hpp"

namespace depthgrid {

/// What a training pass evaluates again because of `model.gradient.mode`, exactly.
struct Recomputation {
  double layers = 0;       // ordinary blocks
  double evaluations = 0;  // evaluations of the field that stands in place of layers
};
Recomputation recomputation(const ModelOptions& o);

/// What regularisers add to a training pass, backward pass included, in forward passes of one
/// evaluation: a product with the field's Jacobian or its transpose is one; one that is
/// differentiated is three, as an evaluation is.
struct Regularisation {
  double evaluations = 0;  // of the field that is regularised
  double passes = 0;       // through the whole depth
};
Regularisation regularisation(const ModelOptions& o);

/// What the backward pass finds or makes in memory at its peak.
struct KeptActivations {
  double layers = 0;       // ordinary blocks, with all that their gradients read
  double evaluations = 0;  // evaluations of the field that stands in place of layers, likewise
  double states = 0;       // (B, T, C) each, beside those
};
KeptActivations kept_activations(const ModelOptions& o);

}  // namespace depthgrid
