#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/data/eval_windows.hpp"
#include "core/data/token_stream.hpp"

namespace depthgrid {

/// A batch of evaluation windows, ready for the model.
struct EvalBatch {
  at::Tensor tokens;        // (n, T + 1) int64, zeros after a partial window's end
  at::Tensor mask;          // (n, T) float32: 1 where the prediction counts
  std::int64_t length = 0;  // positions in use, the same for all rows: T, or fewer
  std::int64_t first = 0;   // number of its first window
};

/// Groups evaluation windows into batches of equal length; a partial window is a separate batch.
class EvalBatches {
 public:
  /// @param stream, windows  must outlive this.
  /// @param batch_size       most windows per batch. @throws Error if it is below 1.
  EvalBatches(const TokenStream& stream, const EvalWindows& windows, std::int64_t batch_size);

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(begins_.size()) - 1; }

  /// @throws Error unless 0 <= i < size().
  EvalBatch batch(std::int64_t i) const;

 private:
  const TokenStream& stream_;
  const EvalWindows& windows_;
  std::vector<std::int64_t> begins_;  // first window of each batch, and one past the last
};

}  // namespace depthgrid
