#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/nan.hpp"
#include "core/data/steering/steering_prompts.hpp"
#include "core/train/language_model.hpp"
#include "worker/eval/eval_plan.hpp"

namespace depthgrid {

/// What a signal on each axis does to the probability of the words that belong to it, of one cell.
struct SteeringFigures {
  /// Texts behind which the words are asked for: the prompts, and text of the corpus, where a
  /// signal should change little: by kSteeringPartNames.
  enum Part : std::size_t { Train, Heldout, Text };

  /// u = +e_axis, 0, -e_axis: by kSteeringSignalNames.
  enum Signal : std::size_t { Plus, Zero, Minus };

  /// Of one axis in one part; NaN where there is nothing.
  struct Entry {
    /// By Signal: mean over the prompts of the probability of the positive and of the negative set.
    std::array<double, 3> positive = {kNaN, kNaN, kNaN}, negative = {kNaN, kNaN, kNaN};
    /// Share of the pairs of a prompt and a sign in which the set of the sign is more probable than
    /// the other one, ties counting half: chance is .5. NaN for text, where neither belongs.
    double accuracy = kNaN;
    /// Share of the prompts at u = 0 behind which the positive set is more probable, likewise.
    double neutral_share = kNaN;
    std::int64_t prompts = 0;  // of text: windows
  };
  std::vector<std::array<Entry, 3>> axes;  // (c), by Part
};

/// Evaluates cells that were trained to be steered.
///
/// Text is the last input of windows of split valid, those of the final evaluation, or 256 of them
/// evenly spaced; its sets are the unions of the axis' positive sets and of its negative sets over
/// all prompts.
/// Source: second study, 2.2 and checks 26 to 32.
class SteeringEvaluation {
 public:
  /// @param plan, data  must outlive this. @param prompts  of both parts.
  /// @param cells  E. @param axes  c.
  SteeringEvaluation(const EvalPlan& plan, const Dataset& data, std::vector<SteeringTokens> prompts,
                     std::int64_t cells, std::int64_t axes)
      : plan_(plan), data_(data), prompts_(std::move(prompts)), cells_(cells), axes_(axes) {}

  /// In batches of 32 rows at most, in which no row is padded: a model may look ahead.
  /// @param model  with positions for the longest prompt. @param stop  polled before every batch.
  /// @return  (E); nothing once `stop` has returned true.
  /// @throws Error for a prompt of an axis beyond c.
  std::optional<std::vector<SteeringFigures>> on(LanguageModel& model,
                                                 const std::function<bool()>& stop) const;

 private:
  const EvalPlan& plan_;
  const Dataset& data_;
  std::vector<SteeringTokens> prompts_;
  std::int64_t cells_, axes_;
};

}  // namespace depthgrid
