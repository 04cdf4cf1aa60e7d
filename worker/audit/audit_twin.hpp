#pragma once

#include <cstdint>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Largest sizes of a twin.
struct TwinSize {
  std::int64_t width = 64;
  std::int64_t layers = 4;
  std::int64_t tokens = 64;
  std::int64_t vocabulary = 256;
};

/// The same model with smaller sizes: width, layers, vocabulary and positions are limited to
/// `size`, inner widths shrink in proportion to the width, networks of depth-time to 16; every
/// other option is unchanged. A structure that is small enough is its own twin.
ModelOptions twin_of(ModelOptions o, const TwinSize& size);

/// The model as it trains once its layers skip: without the initial steps in which a temporal
/// dynamic transformer trains on all tokens (`model.tdt.dense_fraction`). Nothing is routed in
/// these.
ModelOptions without_dense_start(ModelOptions o);

/// The model as if it never left these steps.
ModelOptions in_dense_start(ModelOptions o);

/// The model without noise in training: no dropout, no jitter of depth-time.
ModelOptions without_noise(ModelOptions o);

/// The model with the gradient of its own steps where training has an approximation of it
/// (`model.gradient.mode: adjoint`), which no difference of losses can have.
ModelOptions without_adjoint(ModelOptions o);

}  // namespace depthgrid
