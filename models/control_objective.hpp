#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/objective.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// Terms of a control phase beside the likelihood: leaves `train.control.contrastive`, `attribute`
/// and `anchor`. Each is the mean over the tokens of the contrasted rows (see Contrast).
struct ControlTerms {
  std::vector<double> contrastive{}, attribute{}, anchor{};  // (E) weights; all 0: not computed
  double rows_in_batch = 1;  // rows of a global batch for each contrasted one
  at::Tensor words{};        // (E, c, V) float: a classifier of words, frozen; read by `attribute`
  at::Tensor words_bias{};   // (E, c)
  /// The model that the cells started from, not trained, of the same options; read by `anchor`.
  const Model* reference = nullptr;
};

/// The objective of a language model and these terms.
///
/// `contrastive`, of a sentence of n tokens with label a of axis k: the cross-entropy of a under
/// σ(γ [log p(x | +e_k) - log p(x | -e_k)] / n + b_k), γ and b_k learned (Model::contrast()).
/// `attribute`, of a row under a drawn u = ±e_k: the cross-entropy of its sign under
/// σ(mean over t of Σ_v p_t(v) w_kv + b_k), w and b a classifier of words.
/// `anchor`: KL(p_reference ‖ p), both at u = 0, both in training, under the same draws.
/// Source: second study, 3; the first term is that of GeDi, Krause et al. (2021), Findings of
/// EMNLP.
class ControlObjective final : public Objective {
 public:
  /// Both outlive this. @param seeds  (E) model seeds, for draws in training.
  ControlObjective(Objective& language, const Model& model, std::vector<std::uint64_t> seeds,
                   ControlTerms terms);

  Losses losses(const Batch& batch) override;
  std::vector<std::string_view> loss_parts() const override;

 private:
  /// Logits (E, R, T, V) of the contrasted rows under u, float32 at least.
  at::Tensor logits(const Model& model, const Batch& batch, const at::Tensor& u) const;
  at::Tensor contrastive(const Batch& batch) const;  // (E), sums over tokens
  at::Tensor attribute(const Batch& batch) const;
  at::Tensor anchor(const Batch& batch) const;

  struct Term {
    std::string_view name;
    const std::vector<double>* weight;
    at::Tensor (ControlObjective::*loss)(const Batch&) const;
  };
  std::vector<Term> terms() const;  // those with a weight

  Objective& language_;
  const Model& model_;
  std::vector<std::uint64_t> seeds_;
  ControlTerms of_;
};

}  // namespace depthgrid
