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

/// The same model with smaller sizes: width, layers, vocabulary and positions are cut to `size`,
/// inner widths in the proportion of the width, networks of depth-time to 16; every other option
/// stays as it is. A structure that is small enough is its own twin.
ModelOptions twin_of(ModelOptions o, const TwinSize& size);

/// The model as it trains once its layers skip: without the steps in which a temporal dynamic
/// transformer trains on everything first (`model.tdt.dense_fraction`). In these nothing is routed,
/// and the first steps of a training are all that a check runs.
ModelOptions without_dense_start(ModelOptions o);

/// A twin that learns without noise: no dropout, no jitter of depth-time.
ModelOptions without_noise(ModelOptions o);

}  // namespace depthgrid
