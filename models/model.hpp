#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/layer_control.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/context/forward_context.hpp"
#include "models/family.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A language model over E cells: embedding, depth, norm, readout.
///
/// The same code builds it over a ParameterLayout, which only counts, and over an Arena.
class Model {
 public:
  /// @param build  builds the family; empty: the one named by the options.
  Model(ParameterSource& source, ModelOptions options, const FamilyBuilder& build = {});
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// @param tokens  (E, B, T) int64 in [0, V).
  /// @return        (E, B, T, V) float32.
  at::Tensor logits(const at::Tensor& tokens, const ForwardContext& context) const;

  /// States before the readout norm, under the context's control signal or else the model's own.
  /// @return (E, B, T, C) float32
  at::Tensor states(const at::Tensor& tokens, const ForwardContext& context) const;

  /// The family's segments with the control signal's impulses, under plain gradients.
  /// @param context  must outlive them.
  std::vector<DepthSegment> segments(const ForwardContext& context) const;

  /// `given`, or the signal of passes that are not given one: (E, 1, 1, c), undefined without one.
  const Control& control(const Control& given) const {
    return given.u.defined() ? given : own_control_;
  }

  /// Vectors that stand before the text under this signal: (E, B, c, C); undefined if the signal
  /// enters elsewhere. @param u  one for all tokens. @throws ShapeError otherwise.
  at::Tensor prefix(const Control& u, std::int64_t rows) const;

  /// One step of a discrete layer begins so: see LayerControl::enter().
  const LayerControl& layer_control() const noexcept { return layer_control_; }

  /// What `train.control.contrastive` learns: scale less one (E, 1) and bias (E, c); undefined
  /// without it.
  struct ContrastParameters {
    at::Tensor scale, bias;
  };
  const ContrastParameters& contrast() const noexcept { return contrast_; }

  /// Terms of the training loss besides the language model's: the family's and the regularisers'; a
  /// pass adds their sums to ForwardContext::losses in this order.
  std::vector<LossTerm> loss_terms() const;

  /// Where directions of regularisers begin: (E, rows, C) for each of
  /// RegulariserOptions::directed(), running averages of training.
  const std::vector<at::Tensor>& directions() const noexcept { return directions_; }

  /// Parameters without gradient in training on text, and why.
  std::vector<DeadParameter> dead_parameters() const;

  /// Input of the first depth step. @param first  position of the first token.
  /// @return (E, B, T, C). @throws ShapeError beyond the table of learned positions.
  at::Tensor embed(const at::Tensor& tokens, std::int64_t first = 0) const;

  /// The norm before the head, which may depend on depth-time. @param states  (E, B, T, C).
  at::Tensor normed(const at::Tensor& states) const;

  /// Norm and head. @param states  (E, B, T, C). @return (E, B, T, V)
  at::Tensor readout(const at::Tensor& states) const;

  const ModelOptions& options() const noexcept { return options_; }
  const Family& family() const noexcept { return *family_; }

 private:
  ModelOptions options_;
  at::Tensor embedding_;  // (E, V, C)
  at::Tensor position_;   // (E, rows, C), learned positions only
  std::unique_ptr<Family> family_;
  NormWeights final_norm_;
  TemporalNorm temporal_final_;
  AffineMap head_;  // C -> V, undefined when tied
  LayerControl layer_control_;
  at::Tensor prefix_;  // (E, c, C), or undefined
  ContrastParameters contrast_;
  Control own_control_;
  std::vector<at::Tensor> directions_;

  at::Tensor through(const at::Tensor& x, const ForwardContext& context, const Control& u) const;
};

}  // namespace depthgrid
