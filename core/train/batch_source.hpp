#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/data/sampler.hpp"
#include "core/data/token_stream.hpp"

namespace depthgrid {

/// Training windows of E cells: a pure function of each cell's data seed, the step and the row.
class BatchSource {
 public:
  /// @param stream  training tokens.
  /// @param seeds   (E) data seeds; where they are all equal the cells share one copy.
  BatchSource(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds);

  /// Rows [first_row, first_row + rows) of the global batch of `step`.
  /// @return (E, rows, T + 1) int64 on the CPU; of stride 0 over E where the cells share it.
  at::Tensor windows(std::int64_t step, std::int64_t first_row, std::int64_t rows) const;

  const Sampler& sampler() const noexcept { return sampler_; }

 private:
  TokenStream stream_;
  Sampler sampler_;
  std::vector<std::uint64_t> seeds_;
  bool shared_;
};

}  // namespace depthgrid
