#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/data/labels/corpus_labels.hpp"
#include "core/data/labels/likelihood_auc.hpp"
#include "core/train/language_model.hpp"
#include "worker/eval/eval_plan.hpp"

namespace depthgrid {

/// What a signal does to the likelihood of a split, of one cell. Four losses under four names: only
/// the first one is a perplexity, since a label says something about words that are yet to come.
struct ControlFigures {
  double neutral = 0;     // nats per token at u = 0
  double previous = 0;    // under the label of the last finished segment
  double matched = 0;     // under the label of the token's own segment
  double mismatched = 0;  // under its negative
  double gain = 0;        // nats per labelled sentence evaluated whole: neutral less matched
  double gain_error = 0;  // its standard error over sentences
  std::vector<AreaUnderCurve> auc;  // (c, c): score of one axis, labels of another
};

/// Evaluates cells that were trained under labels.
///
/// The score of a sentence for axis k is [log p(x | u = e_k) - log p(x | u = -e_k)] over its number
/// of tokens, each predicted in its window; no text is generated.
/// Source: second study, 8; GeDi: Krause et al. (2021), Findings of EMNLP, eq. 2.
class ControlEvaluation {
 public:
  /// @param labels  (E) by cell, all of one corpus; must outlive this, as do the others.
  /// @param window  u covers a whole window, as ControlDraws::window. @param whole  likewise.
  ControlEvaluation(const EvalPlan& plan, const Dataset& data,
                    std::vector<std::shared_ptr<const CorpusLabels>> labels, bool window,
                    bool whole = false)
      : plan_(plan), data_(data), labels_(std::move(labels)), window_(window), whole_(whole) {}

  /// On the windows of the final evaluation. @param stop  polled before every batch.
  /// @return  (E); nothing once `stop` has returned true; empty for a split without windows.
  std::optional<std::vector<ControlFigures>> on(LanguageModel& model, Split split,
                                                const std::function<bool()>& stop) const;

 private:
  const EvalPlan& plan_;
  const Dataset& data_;
  std::vector<std::shared_ptr<const CorpusLabels>> labels_;
  bool window_, whole_;
};

}  // namespace depthgrid
