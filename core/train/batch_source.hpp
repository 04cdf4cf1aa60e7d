#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sampler.hpp"
#include "core/data/token_stream.hpp"
#include "core/train/batch.hpp"

namespace depthgrid {

/// Where training rows of E cells come from: a pure function of the step and the row.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Rows [first_row, first_row + rows) of the global batch of a step. @param step  from 1.
  virtual Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const = 0;

  /// T, tokens of a row that are predicted.
  virtual std::int64_t tokens() const = 0;
};

/// Windows of a text by each cell's data seed, with nothing that steers.
class TextBatches final : public BatchSource {
 public:
  /// @param stream  training tokens.
  /// @param seeds   (E) data seeds; if all are equal, the cells share one copy.
  TextBatches(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds);

  /// Windows on the CPU, (E, rows, T + 1); of stride 0 over E where the cells share them.
  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override;
  std::int64_t tokens() const override { return sampler_.seq_len(); }

 private:
  TokenStream stream_;
  Sampler sampler_;
  std::vector<std::uint64_t> seeds_;
  bool shared_;
};

}  // namespace depthgrid
