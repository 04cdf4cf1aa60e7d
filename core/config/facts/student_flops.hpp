#pragma once

namespace depthgrid {

/// Forward operations per token of a student as a function of the share r of tokens executed by its
/// dynamic layers: products scale with r, attention among executed tokens with r². For what is
/// counted, see models/cost_model.hpp.
struct StudentFlops {
  double always = 0;     // independent of the share
  double products = 0;   // of all dynamic layers together, for r = 1
  double attention = 0;  // likewise

  /// Layers with different shares cost the mean of this over the layers.
  double at(double share) const { return always + share * (products + share * attention); }
};

}  // namespace depthgrid
