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

/// Figures of all splits of one evaluation: [split][cell]; an absent split is empty.
using SplitResults = std::array<std::vector<EvalResult>, 4>;

/// Leaves `eval.*` of one structure over its data: when, on which windows, how many at a time.
class EvalPlan {
 public:
  EvalPlan(const CellConfig& config, const Dataset& data, std::int64_t cells);

  /// True after `step` steps of `steps` (0: before the first).
  bool due(std::int64_t step, std::int64_t steps) const;

  /// The periodic evaluation: a fixed, evenly spaced subset of each split's windows.
  SplitResults periodic(LanguageModel& model) const;

  /// The last one: all windows of the final splits, or as many as `eval.final_windows` says.
  /// @param stop  asked before every batch. @return nothing once it has said yes.
  std::optional<SplitResults> final(LanguageModel& model, const std::function<bool()>& stop) const;

  /// `windows` windows of one stream, evenly spaced, or all; nothing for a stream without any. (E)
  std::vector<EvalResult> on(LanguageModel& model, const TokenStream& stream,
                             std::optional<std::int64_t> windows) const;

  /// The first study's protocol on `valid`: 80 random windows. Nothing unless asked for. (E) nats.
  std::optional<std::vector<double>> published(LanguageModel& model, std::int64_t index) const;

  /// Windows of a split as the periodic evaluation, or the last one, takes them.
  EvalWindows windows(Split split, bool final) const;
  std::int64_t batch_size() const noexcept { return batch_size_; }

  bool by_position() const noexcept { return by_position_; }
  std::int64_t positions() const noexcept { return seq_len_; }

 private:
  std::optional<std::vector<EvalResult>> over(LanguageModel& model, const TokenStream& stream,
                                              std::optional<std::int64_t> windows,
                                              const std::function<bool()>& stop) const;
  std::optional<SplitResults> over(LanguageModel& model, const std::array<bool, 4>& splits,
                                   std::optional<std::int64_t> windows,
                                   const std::function<bool()>& stop) const;

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
  std::optional<std::int64_t> windows_, final_windows_, stride_;
};

}  // namespace depthgrid
