#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// The norm of a block or of the readout. @param x (E, B, T, C)
at::Tensor apply_norm(const ModelOptions& o, NormChoice kind, const NormWeights& w,
                      const at::Tensor& x);

/// Projections (E, B, T, 3C) in, mixed values (E, B, T, C) out.
using Attend = std::function<at::Tensor(const at::Tensor&)>;

/// The normed state (E, B, T, C) in, the second sublayer's increment out.
using SecondSublayer = std::function<at::Tensor(const at::Tensor&)>;

/// Attn(N1 x), in the dtype of x. @param x (E, B, T, C)
at::Tensor attention_increment(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                               const Attend& attend);

/// Input of the second sublayer: x + h · attention for sequential sublayers, else x.
/// @param h  (E) step length.
at::Tensor second_input(const ModelOptions& o, const at::Tensor& x, const at::Tensor& h,
                        const at::Tensor& attention);

/// Up, activation, down. @param normed (E, B, T, C)
at::Tensor feed_forward(const ModelOptions& o, const BlockWeights& w, const at::Tensor& normed);

/// F of a block, as in BlockField, with the caller's attention and second sublayer.
at::Tensor block_body(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, const SecondSublayer& second);

/// A transformer block as a field; a family supplies the weights at each depth.
///
/// Parallel:   F = Attn(N1 x) + FFN(N2 x).
/// Sequential: F = Attn(N1 x) + FFN(N2(x + h Attn(N1 x))), so that a step of Euler scales each
/// sublayer's increment by h: x <- x + h Attn(N1 x), then x <- x + h FFN(N2 x).
/// The state stays float32 for every dtype of the weights: products are cast, the sum is not.
class BlockField : public VectorField {
 public:
  /// Both arguments must outlive the field.
  BlockField(const ModelOptions& options, const ForwardContext& context)
      : options_(options), context_(context) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override;
  bool depends_on_h() const override { return options_.sublayers == Sublayers::Sequential; }

 protected:
  /// F. @param own  angles of each sequence's tokens if they are not the first T of a text.
  at::Tensor increment(const at::Tensor& x, const DepthPoint& at,
                       const RotaryAngles& own = {}) const;

  /// The second sublayer on the normed state (E, B, T, C): up, activation, down, unless overridden.
  virtual at::Tensor second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                                     const DepthPoint& at) const;

  /// False if a family overrides `second_sublayer`.
  virtual bool feeds_forward() const { return true; }

  /// Weights at `at.step` (step-indexed families) or `at.t`.
  virtual BlockWeights weights(const DepthPoint& at) const = 0;

  const ModelOptions& options() const noexcept { return options_; }
  const ForwardContext& context() const noexcept { return context_; }

 private:
  /// Attn(N1 x), as one graph node if there is a kernel for it.
  at::Tensor attention_branch(const BlockWeights& w, const at::Tensor& x, std::int64_t layer,
                              const RotaryAngles& own) const;
  /// attention + second sublayer(N2 y), as one graph node if there is a kernel for it.
  at::Tensor second_branch(const BlockWeights& w, const at::Tensor& y, const at::Tensor& attention,
                           const DepthPoint& at) const;

  const ModelOptions& options_;
  const ForwardContext& context_;
};

/// Blocks indexed by the step: the ordinary transformer under Euler. Blocks that share parameters
/// hold the same tensors.
class LayerField : public BlockField {
 public:
  /// @param layers  one per depth step.
  LayerField(const ModelOptions& o, const ForwardContext& c, std::vector<BlockWeights> layers)
      : BlockField(o, c), layers_(std::move(layers)) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override {
    return layers_.at(static_cast<std::size_t>(at.step));
  }

 private:
  std::vector<BlockWeights> layers_;
};

}  // namespace depthgrid
