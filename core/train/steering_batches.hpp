#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/data/steering/steering_prompts.hpp"
#include "core/train/batch_source.hpp"

namespace depthgrid {

/// Prompts, each twice in a step: row 2i asks for its positive set under u = +e_axis, row 2i + 1
/// for its negative set under u = -e_axis.
///
/// A row has one counted prediction, the one behind its prompt, so the loss of a step is the mean
/// over its rows of -log of the probability of the row's set, in nats. The published loss of a pair
/// is the sum of its two rows: twice this.
///
/// Each epoch has the prompts in another order, a pure function of (data seed, epoch); step after
/// step takes the next batch / 2 of them, over the end of an epoch too.
/// Source: second study, 2.2; orders: Fisher & Yates, as in Knuth, TAOCP 2, 3.4.2, algorithm P.
class SteeringBatches final : public BatchSource {
 public:
  /// @param prompts      of part train; one at least.
  /// @param axes         c. @param batch  rows of the global batch, even.
  /// @param seeds        (E) data seeds; if all cells have the same order, they share one copy.
  /// @param first_steps  (E) steps of the order passed over before step 1; empty: none.
  /// @throws Error for prompts of other axes or that are held out, for no prompts, for an odd
  ///         batch.
  SteeringBatches(std::vector<SteeringTokens> prompts, std::int64_t axes, std::int64_t batch,
                  std::vector<std::uint64_t> seeds, std::vector<std::int64_t> first_steps = {});

  /// On the CPU: windows (E, rows, prompt_tokens() + 1), zeros behind a prompt; u (E, rows, 1, c);
  /// answers.place (E, rows), answers.wanted (E, rows, size of the largest set). All of them with
  /// stride 0 over E if the cells share them. @throws Error unless the rows lie in [0, batch).
  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override;

  /// 1: predictions that count per row. The model reads prompt_tokens() inputs.
  std::int64_t tokens() const override { return 1; }

  /// Tokens of the longest prompt; every step has windows of this shape.
  std::int64_t prompt_tokens() const noexcept { return longest_; }

 private:
  Batch of_cell(std::size_t cell, std::int64_t step, std::int64_t first_row,
                std::int64_t rows) const;

  std::vector<SteeringTokens> prompts_;
  std::int64_t axes_;
  std::int64_t batch_;
  std::vector<std::uint64_t> seeds_;
  std::vector<std::int64_t> first_steps_;
  std::int64_t longest_;
  std::int64_t largest_set_ = 0;
  bool shared_;
};

}  // namespace depthgrid
