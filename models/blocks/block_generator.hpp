#pragma once

#include <string>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A weight matrix and its bias as functions of depth-time: m(t) = g(e(t)) by its own time network,
/// then W(t) = m(t) G + W₀ and b(t) = m(t) B.
///
/// The weights of all L nodes are materialised once per pass by one product (L, h)·(h, out·in).
/// Contracting through the hidden vector instead, y = Σ_k m_k (G_k x), costs h products of the size
/// of W with N = B·T tokens per node: 2·N·h·out·in operations instead of 2·(h + N)·out·in, about h
/// times as many for any realistic N. In bytes, G is read once for all nodes, and the L matrices
/// are L/h of it.
///
/// Initialisation: W₀ like an ordinary weight under `model.init`, G and the time network as maps of
/// the same scheme, B as a bias; so W(t) starts as an ordinary block's weight plus a part that
/// depends on depth. (The study gives none; its published program starts W₀ at zero.)
/// Source: Tong et al. (2025), "Neural ODE Transformers", ICLR; first study, section 2.2; shapes,
/// and no activation after the time network: the study's published program.
class WeightGenerator {
 public:
  struct Spec {
    std::string name;
    std::int64_t in;
    std::int64_t out;
    bool bias = true;
    std::int64_t residual_branches = 0;  // as AffineSpec's
  };

  /// The matrix at every node.
  struct Generated {
    at::Tensor weight;  // (E, L, out, in)
    at::Tensor bias;    // (E, L, out), (E, 1, out) if not generated, or undefined
  };

  WeightGenerator() = default;

  /// Parameters NAME.time.{w1,b1,...}, NAME.generator (h, out·in), NAME.base (1, out·in) and
  /// NAME.bias_generator (h, out), or NAME.bias (1, out) if biases are not generated.
  WeightGenerator(ParameterSource& source, const ModelOptions& o, const Spec& spec);

  /// @param features  (E, L, F) of time_features().
  Generated evaluate(const at::Tensor& features) const;

 private:
  std::int64_t in_ = 0;
  std::int64_t out_ = 0;
  DepthMlp time_;
  at::Tensor generator_;
  at::Tensor base_;
  at::Tensor bias_generator_;
  at::Tensor bias_;
};

/// A transformer block whose six weights are generated from depth-time. Norms are shared by all
/// depths unless temporal.
class BlockGenerator {
 public:
  /// One WeightGenerator each under NAME.attn.q, NAME.attn.k, NAME.attn.v (or NAME.attn.qkv if all
  /// three share one), NAME.attn.out, NAME.mlp.up and NAME.mlp.down; norms under NAME.norm1 and
  /// NAME.norm2.
  BlockGenerator(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param features  (E, L, F) of time_features(). @return the block at each of the L nodes.
  std::vector<BlockWeights> evaluate(const at::Tensor& features) const;

 private:
  std::vector<WeightGenerator> qkv_;  // one, or those of q, k and v
  WeightGenerator out_;
  WeightGenerator up_;
  WeightGenerator down_;
  BlockWeights fixed_;  // norms that all depths share, if any
  bool temporal_;
  TemporalNorm norm1_;
  TemporalNorm norm2_;
};

}  // namespace depthgrid
