#pragma once

namespace depthgrid {

/// Forward operations per token of a student, by the share r of the tokens that its dynamic layers
/// execute: products grow by r, attention, which sees executed tokens alone, by r². What counts
/// stands in models/cost_model.hpp.
struct StudentFlops {
  double always = 0;     // whatever is executed
  double products = 0;   // of all dynamic layers together, with every token
  double attention = 0;  // likewise

  /// Layers of different shares cost the mean of this over the layers.
  double at(double share) const { return always + share * (products + share * attention); }
};

}  // namespace depthgrid
