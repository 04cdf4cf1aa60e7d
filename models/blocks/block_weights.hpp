#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// E affine maps, one per cell: y[e] = x[e] (gate[e] weight[e])^T + bias[e].
struct AffineMap {
  at::Tensor weight;     // (E, out, in)
  at::Tensor bias;       // (E, 1, out), or undefined
  at::Tensor gate = {};  // (E, out, 1), a factor of each row of the weight; or undefined for 1
};

/// gate · weight.
at::Tensor effective_weight(const AffineMap& map);

/// Affine part of a norm.
struct NormWeights {
  at::Tensor scale;  // (E, C), or undefined for 1
  at::Tensor shift;  // (E, C), or undefined for 0
};

/// The weights of one transformer block at one depth. Families differ in where they come from: a
/// layer's own parameters, shared ones times a gate, or a generator.
struct BlockWeights {
  NormWeights norm1;
  AffineMap qkv;  // C -> 3C
  AffineMap out;  // C -> C
  NormWeights norm2;
  AffineMap up;    // C -> hidden (2 hidden for gated activations)
  AffineMap down;  // hidden -> C
};

/// @param x  (E, ..., in); cast to the dtype of the weight.
/// @return   (E, ..., out)
at::Tensor apply(const AffineMap& map, const at::Tensor& x);

}  // namespace depthgrid
