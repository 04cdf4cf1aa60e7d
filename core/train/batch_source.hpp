#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sampler.hpp"
#include "core/data/token_stream.hpp"
#include "core/train/objective.hpp"

namespace depthgrid {

/// Source of the training rows of E cells: a pure function of the step and the row.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Rows [first_row, first_row + rows) of the global batch of a step. @param step  from 1.
  virtual Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const = 0;

  /// T, predicted tokens per row.
  virtual std::int64_t tokens() const = 0;
};

/// Windows of a text, drawn by each cell's data seed, without a control signal.
class TextBatches final : public BatchSource {
 public:
  /// @param stream  training tokens.
  /// @param seeds   (E) data seeds; if all cells have the same order, they share one copy.
  /// @param first_steps  (E) steps of the order passed over before step 1; empty: none.
  TextBatches(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds,
              std::vector<std::int64_t> first_steps = {});

  /// Windows on the CPU, (E, rows, T + 1); with stride 0 over E if the cells share them.
  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override;
  std::int64_t tokens() const override { return sampler_.seq_len(); }

 private:
  TokenStream stream_;
  Sampler sampler_;
  std::vector<std::uint64_t> seeds_;
  std::vector<std::int64_t> first_steps_;
  bool shared_;
};

}  // namespace depthgrid
