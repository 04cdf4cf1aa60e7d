#pragma once

#include <string>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// U(± sqrt(6 / (in + out))). Source: Glorot & Bengio (2010), AISTATS, eq. 16.
Init xavier_init(std::int64_t in, std::int64_t out);

/// Initialisation of a weight matrix. @param residual_branches  0, or 2L for the last matrix of a
/// residual branch (Radford et al. (2019), section 2.3).
Init weight_init(const ModelOptions& o, std::int64_t in, std::int64_t out,
                 std::int64_t residual_branches = 0);

/// Initialisation of a bias: zero, or U(±1/sqrt(in)) in PyTorch's scheme.
Init bias_init(const ModelOptions& o, std::int64_t in);

/// Initialisation of a token or position table.
Init table_init(const ModelOptions& o);

/// NAME.weight (out, in) and, if asked for, NAME.bias (out).
struct AffineSpec {
  std::string name;
  std::int64_t in;
  std::int64_t out;
  bool bias = true;
  ParameterGroup group = ParameterGroup::Trunk;
  ParameterGroup bias_group = ParameterGroup::Bias;
  std::int64_t residual_branches = 0;
};
AffineMap affine_parameters(ParameterSource& source, const ModelOptions& o, const AffineSpec& spec);

/// NAME.scale and NAME.shift (C) for layer norm, NAME.scale for RMS norm; nothing for other kinds.
NormWeights norm_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                            NormChoice kind);

/// A block's attention and the norm before it: NAME.norm1, NAME.attn.qkv, NAME.attn.out.
void attention_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                          BlockWeights& w);

/// The second sublayer and the norm before it: NAME.norm2 and, if it is feed-forward, NAME.mlp.up
/// and NAME.mlp.down.
void second_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                       BlockWeights& w);

/// The parameters of one whole block under NAME: both of the above.
BlockWeights block_parameters(ParameterSource& source, const ModelOptions& o,
                              const std::string& name);

}  // namespace depthgrid
