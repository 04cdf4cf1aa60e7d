#pragma once

#include <array>
#include <vector>

#include "core/probe/gate_values.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// The continuous system h' = Δ (A h + B x), y = C h + D x at the L nodes of a grid.
struct SsmAtNodes {
  at::Tensor a;      // (E, L, N) or (E, L, N, N)
  at::Tensor b;      // (E, L, N, C)
  at::Tensor c;      // (E, L, C, N)
  at::Tensor d;      // (E, L, C), (E, L, C, C), or undefined without skip
  at::Tensor delta;  // (E, L, N) tokens, or undefined without discretisation
};

/// Parameters of A, B, C, D and Δ and their modulation by depth-time.
///
/// Shared: block.ssm.{A,B,C,D} times gates modulation.ssm.{A,B,C,D}, per row or per entry:
/// A = −softplus(block.ssm.A) ⊙ gate if diagonal, block.ssm.A ⊙ gate if dense,
/// B, C, D ⊙ gate, Δ = softplus(g_Δ(e(t))) + dt_min with the network modulation.ssm.delta and no
/// gate (first study, section 2.4.2).
/// Generated: the same from m = W2 silu(W1 e(t) + b1) + b2 by hypernet.ssm.{A,B,C,D,delta}, one
/// affine map each, with a gate on Δ, too (shapes as in the study's published program).
/// A diagonal A is stable for all weights if its gate is non-negative; a dense one starts stable
/// and is unconstrained.
class SsmWeights {
 public:
  SsmWeights() = default;
  SsmWeights(ParameterSource& source, const ModelOptions& o);

  /// @param features  (E, L, F).
  /// @param products  dtype of generated matrix factors: that of the model's weights.
  SsmAtNodes evaluate(const ModelOptions& o, const at::Tensor& features,
                      at::ScalarType products) const;

  /// The gates on A, B, C, D and a generated Δ at the nodes, for diagnostics; empty for constant
  /// ones. @param features  (E, L, F).
  std::vector<DepthFactor> gates(const ModelOptions& o, const at::Tensor& features) const;
  /// The same by type of weight: A, B, C, D, dt.
  std::vector<GateValues> gate_values(const ModelOptions& o, const at::Tensor& features) const;

 private:
  enum Part : std::uint8_t { A, B, C, D, Delta };
  static constexpr std::size_t kParts = 5;
  struct Shape {
    std::int64_t rows = 0, columns = 0;  // 0 rows: the model has no such part
  };

  static Shape shape_of(const ModelOptions& o, Part part);
  void shared(ParameterSource& source, const ModelOptions& o);
  void generated(ParameterSource& source, const ModelOptions& o);
  at::Tensor gated(const ModelOptions& o, Part part, const at::Tensor& value,
                   const at::Tensor& features) const;

  std::array<at::Tensor, kParts> base_;       // (E, rows, columns)
  std::array<AffineMap, kParts> generators_;  // hidden -> rows · columns
  std::array<DepthMlp, kParts> gates_;
  DepthMlp time_;      // m, generated parameters only
  DepthMlp delta_;     // g_Δ, shared parameters only
  at::Tensor dt_min_;  // (E, 1, 1)
};

}  // namespace depthgrid
