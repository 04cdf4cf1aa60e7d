#pragma once

#include <array>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/control_profile.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/blocks/weight_gates.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// The dynamics of a flow through depth, with its own time τ from 0 to 1:
///
///   attention_mlp:  f(x, τ, u) = α [Attn(N1 y) + FFN(N2 y)],  y = x + e(τ) + c(u)
///   time_indexed:   the same with the weights of both under gates: W ⊙ gate(g(τ))
///   mlp:            f(x, τ, u) = α [W2 σ(W1 [y; u] + b1) + b2],  y = x + e(τ), without norm
///
/// e is a network 1 -> C -> C of τ itself, c an affine map of the control signal; without a signal
/// c(u) is left out, and u is zero. α is one number per cell. The second sublayer of a sequential
/// field reads y + Attn(N1 y). Nothing depends on the step length, so any method may run it.
///
/// So the signal enters where it is additive (attention fields) or concatenated (mlp). Otherwise:
///   additive, mlp:      y also has W u
///   film, attention:    N_j y becomes N_j y ⊙ (1 + G_j u) + S_j u
///   film, mlp:          W1 y + b1 becomes (W1 y + b1) ⊙ (1 + G u) + S u
///   concat, attention:  qkv and the first feed-forward map read [N_j y; u]
/// At u = 0 all of them compute what they compute without a signal, to the bit.
/// Source: second study, section 3, and its program (which trains attention_mlp); film: Perez et
/// al. (2018), AAAI, eq. 2.
class Flow {
 public:
  /// Parameters flow.block, flow.modulation or flow.mlp, flow.time, flow.control and flow.alpha.
  /// Maps of the signal start at zero unless ControlOptions::drawn.
  /// @param o  must outlive the flow.
  Flow(ParameterSource& source, const ModelOptions& o);

  /// @param context  must outlive the field.
  FieldPtr field(const ForwardContext& context) const;

  /// The field at τ over new tokens only. @param t  (E).
  DecodeBlock decode_block(const at::Tensor& t) const;

  /// e(τ) + c(u): (E, 1 or B, 1 or T, C), undefined where there is neither. @param t  (E).
  at::Tensor shift(const at::Tensor& t, const Control& u) const;
  /// α F. @param f  (E, B, T, C).
  at::Tensor scaled(const at::Tensor& f) const;
  /// W2 σ(W1 [y; u] + b1) + b2. @param y  (E, B, T, C). @param t  (E).
  at::Tensor mlp(const at::Tensor& y, const at::Tensor& t, const Control& u) const;
  /// The signal changes what is inside the block: its norms (film) or first maps (concat).
  bool enters_block() const {
    return film_.front().scale.weight.defined() || beside_qkv_.weight.defined();
  }
  /// F of that block at τ. @param y  (E, B, T, C). @param attend  its attention. @param drop
  /// applied to the second sublayer's increment.
  at::Tensor entered_block(const at::Tensor& y, const at::Tensor& t, const Control& u,
                           const Attend& attend, const SecondSublayer& drop) const;
  /// Dropout's layer key for an evaluation: each stage draws its own mask, or the solve one for
  /// all.
  std::int64_t mask(const DepthPoint& at) const;

  /// Whether weights are under gates of τ.
  bool has_gates() const { return gates_ && options_.modulation.gate != GateKind::Constant; }
  /// Their gates. @param t  (E, n): τ. Empty if there are none.
  std::vector<GateValues> gates(const at::Tensor& t) const;

  /// The weights at τ of the block inside the field. @param t  (E).
  BlockWeights block(const at::Tensor& t) const;
  /// Sizes and kind of the block inside the field.
  const ModelOptions& block_options() const noexcept { return block_options_; }

 private:
  /// A scale and a shift by the signal.
  struct Film {
    AffineMap scale, shift;
  };
  /// x ⊙ (1 + G u) + S u; x itself without a signal.
  static at::Tensor modulated(const at::Tensor& x, const Film& film, const at::Tensor& given);
  /// x + W u, as if u stood beside the input of the map that x comes from.
  static at::Tensor with_beside(const at::Tensor& x, const AffineMap& map, const at::Tensor& given);
  void control_parameters(ParameterSource& source);
  /// The signal at τ, see ControlProfile. @param t  (E).
  at::Tensor signal(const at::Tensor& t, const Control& u) const;

  const ModelOptions& options_;
  ModelOptions block_options_;
  BlockWeights block_;  // mlp: up and down alone
  std::optional<WeightGates> gates_;
  DepthMlp time_;
  AffineMap control_;                 // c -> C, additive
  AffineMap beside_qkv_, beside_up_;  // c -> 3C, c -> hidden, concat
  std::array<Film, 2> film_;          // of the two norms; mlp: the first, of the hidden layer
  ControlProfile profile_;
  at::Tensor alpha_;  // (E, 1)
};

/// Puts every requested parameter into one group, whatever its specification says.
class GroupedSource final : public ParameterSource {
 public:
  GroupedSource(ParameterSource& source, ParameterGroup group) : source_(source), group_(group) {}
  at::Tensor parameter(const ParameterSpec& spec) override;

 private:
  ParameterSource& source_;
  ParameterGroup group_;
};

}  // namespace depthgrid
