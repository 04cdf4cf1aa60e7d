#pragma once

#include <optional>

#include "models/blocks/block_field.hpp"
#include "models/context/forward_context.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// Keys visible to a query in a layer that skips tokens: executed ones up to itself, and itself, so
/// that no row is empty. @param executed (E, B, T) bool. @return (E, B, T, T) bool
at::Tensor visible_keys(const at::Tensor& executed);

/// Self-attention in which executed tokens read executed tokens only.
/// @param qkv   (E, B, T, 3C). @param keys  (E, B, T, T) bool, from visible_keys().
/// @return      (E, B, T, C); rows of skipped tokens are meaningless.
at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context);

/// L separate blocks, some of which execute only a part of the tokens: a skipped token keeps its
/// state bit for bit, an executed one becomes x + h · gate · F, with F over executed tokens only.
///
/// The field's gate, which observers see, is 1 for executed tokens, else 0.
class RoutedField : public LayerField {
 public:
  using LayerField::LayerField;

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override;

 protected:
  /// Terms of the training loss, by Family::loss_terms(): see FieldValue.
  using Losses = std::vector<at::Tensor>;

  /// A dynamic layer. @param dynamic  its index among dynamic layers. @param losses  out: its own.
  virtual FieldValue routed(const at::Tensor& x, const DepthPoint& at, std::int64_t dynamic,
                            const Control& u, Losses& losses) const = 0;

  /// F of all tokens, as in an ordinary layer.
  at::Tensor dense(const at::Tensor& x, const DepthPoint& at, const Control& u) const {
    return BlockField::evaluate(x, at, u).dx;
  }

  /// gate · F for executed tokens, else zero. @param x (E, B, T, C). @param mask (E, B, T) bool.
  /// @param gate (E, B, T), or undefined for 1.
  /// @param ranked  the mask is a TopK's, so that tokens are gathered if configured.
  FieldValue executed(const at::Tensor& x, const DepthPoint& at, const at::Tensor& mask,
                      const at::Tensor& gate, bool ranked) const;

  /// No token is executed: zeros. @param x (E, B, T, C).
  FieldValue skipped(const at::Tensor& x) const;

  /// Records the layer's routing, detached, if the pass asks for it.
  void report(LayerRouting&& routing) const;

  /// Adds a layer's share of a loss averaged over dynamic layers. @param term  index of the loss
  /// among those that the family declares. @param sum (E) over tokens.
  void add_loss(Losses& losses, std::size_t term, const at::Tensor& sum) const;

  /// Passes an observation to a parameter that is a running average (ParameterSpec::average): adds
  /// a zero loss whose gradient with respect to it is `sum`. @param average (E, 1). @param sum (E)
  static void observe(Losses& losses, std::size_t term, const at::Tensor& average,
                      const at::Tensor& sum);

  /// (E, B, T) masks of modes that need neither teacher nor student; undefined for the others.
  at::Tensor plain_mask(const at::Tensor& like, std::int64_t layer) const;

  /// (E, B, T) mask of mode student: by the router's logits or, with decider forced, the caller's.
  at::Tensor student(const at::Tensor& logits, std::int64_t layer, std::int64_t dynamic) const;

  /// How dynamic layers are executed in evaluation.
  ExecutionMode mode() const {
    return context().execution ? context().execution->mode : ExecutionMode::Student;
  }
  /// The mask is the caller's (`Execution::forced`), also in training.
  bool forced() const { return mode() == ExecutionMode::Forced; }
  bool asked() const { return context().routing != nullptr; }
  bool asked_to_teach() const { return asked() && context().routing->teach; }
  bool asked_to_skip() const { return asked() && context().routing->skips; }

 private:
  /// Number k of tokens gathered per sequence; none if all pass and are masked.
  std::optional<std::int64_t> gathered_count(const at::Tensor& mask, bool ranked) const;

  /// F of the block if only some tokens are executed: skipped ones provide no queries, keys or
  /// values. All rows are computed; the caller discards those of skipped tokens.
  at::Tensor masked(const at::Tensor& x, const DepthPoint& at, const at::Tensor& executed) const;

  /// `executed`, computed on only k tokens per sequence, in the order of the text.
  at::Tensor gathered(const at::Tensor& x, const DepthPoint& at, const at::Tensor& mask,
                      const at::Tensor& gate, std::int64_t k) const;
};

}  // namespace depthgrid
