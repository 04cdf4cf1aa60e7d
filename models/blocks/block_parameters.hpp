#pragma once

#include <string>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// U(± sqrt(6 / (in + out))). Source: Glorot & Bengio (2010), AISTATS, eq. 16.
Init xavier_init(std::int64_t in, std::int64_t out);

/// Start of a weight matrix. @param residual_branches  0, or 2L for a matrix that ends a residual
/// branch (Radford et al. (2019), section 2.3).
Init weight_init(const ModelOptions& o, std::int64_t in, std::int64_t out,
                 std::int64_t residual_branches = 0);

/// Start of a bias: zero, or U(+-1/sqrt(in)) where the scheme is PyTorch's.
Init bias_init(const ModelOptions& o, std::int64_t in);

/// Start of a token or position table.
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

/// NAME.scale and NAME.shift (C) of layer norm, NAME.scale of RMS norm; nothing for other kinds.
NormWeights norm_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                            NormChoice kind);

/// The attention of a block and the norm in front of it: NAME.norm1, NAME.attn.qkv, NAME.attn.out.
void attention_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                          BlockWeights& w);

/// The second sublayer and the norm in front of it: NAME.norm2 and, where it is a feed-forward one,
/// NAME.mlp.up and NAME.mlp.down.
void second_parameters(ParameterSource& source, const ModelOptions& o, const std::string& name,
                       BlockWeights& w);

/// The parameters of one whole block under NAME: both of the above.
BlockWeights block_parameters(ParameterSource& source, const ModelOptions& o,
                              const std::string& name);

}  // namespace depthgrid
