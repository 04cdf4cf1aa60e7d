#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"
#include "core/data/eval_windows.hpp"
#include "core/train/evaluation.hpp"

namespace depthgrid {

/// Results of one evaluation by split: [split][cell]; an absent split is empty.
using SplitResults = std::array<std::vector<EvalResult>, 4>;

/// Called when a split has been evaluated, with what came out.
using SplitDone = std::function<void(Split split, const std::vector<EvalResult>& results)>;

/// The leaves `eval.*` of one structure applied to its data: when to evaluate, on which windows,
/// how many at a time.
class EvalPlan {
 public:
  /// @param data  must outlive this object. @param cells  E.
  EvalPlan(const CellConfig& config, const Dataset& data, std::int64_t cells);

  /// Whether an evaluation is due after `step` of `steps` steps (0: before the first).
  bool due(std::int64_t step, std::int64_t steps) const;

  /// The periodic evaluation: a fixed, evenly spaced subset of each split's windows.
  SplitResults periodic(LanguageModel& model, const SplitDone& done = {}) const;

  /// The final evaluation: all windows of the final splits, or `eval.final_windows` of them.
  /// @param stop  asked before every batch. @return nothing once it has returned true.
  std::optional<SplitResults> final(LanguageModel& model, const std::function<bool()>& stop,
                                    const SplitDone& done = {}) const;

  /// Evaluates `windows` evenly spaced windows of one stream, or all. @return (E); empty for a
  /// stream without windows.
  std::vector<EvalResult> on(LanguageModel& model, const TokenStream& stream,
                             std::optional<std::int64_t> windows) const;

  /// The first study's protocol on `valid`: 80 random windows. @return (E) nats per token; nothing
  /// unless configured.
  std::optional<std::vector<double>> published(LanguageModel& model, std::int64_t index) const;

  /// Windows of a split in the periodic or the final evaluation.
  EvalWindows windows(Split split, bool final) const;
  /// The same for comparing modes of execution, and for their thresholds: during training
  /// `eval.mode_windows`, and no more than windows().
  EvalWindows mode_windows(Split split, bool final) const;
  std::int64_t batch_size() const noexcept { return batch_size_; }

  bool by_position() const noexcept { return by_position_; }
  std::int64_t positions() const noexcept { return seq_len_; }

 private:
  EvalWindows most(std::optional<std::int64_t> windows, const TokenStream& stream) const;
  std::optional<std::vector<EvalResult>> over(LanguageModel& model, const TokenStream& stream,
                                              std::optional<std::int64_t> windows,
                                              const std::function<bool()>& stop) const;
  std::optional<SplitResults> over(LanguageModel& model, const std::array<bool, 4>& splits,
                                   std::optional<std::int64_t> windows,
                                   const std::function<bool()>& stop, const SplitDone& done) const;

  const Dataset& data_;
  std::int64_t cells_;
  std::int64_t seq_len_;
  std::int64_t batch_size_;
  std::optional<std::int64_t> every_;
  bool at_start_;
  bool by_position_;
  bool published_;
  std::array<bool, 4> splits_{};
  std::array<bool, 4> final_splits_{};
  std::optional<std::int64_t> windows_, mode_windows_, final_windows_, stride_;
};

}  // namespace depthgrid
