#include "core/data/eval_batches.hpp"

#include <algorithm>

#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"

namespace depthgrid {

EvalBatches::EvalBatches(const TokenStream& stream, const EvalWindows& windows,
                         std::int64_t batch_size)
    : stream_(stream), windows_(windows) {
  if (batch_size < 1) throw Error("eval: a batch has one window at least");
  for (std::int64_t i = 0; i < windows.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool other_length = i > 0 && windows.lengths[at] != windows.lengths[at - 1];
    if (begins_.empty() || other_length || i - begins_.back() == batch_size) begins_.push_back(i);
  }
  begins_.push_back(windows.size());
}

EvalBatch EvalBatches::batch(std::int64_t i) const {
  if (i < 0 || i >= size()) throw Error("eval: no batch " + std::to_string(i));
  const std::int64_t first = begins_[static_cast<std::size_t>(i)];
  const std::int64_t n = begins_[static_cast<std::size_t>(i) + 1] - first;
  const std::int64_t seq_len = windows_.seq_len;
  EvalBatch batch;
  batch.first = first;
  batch.length = windows_.lengths[static_cast<std::size_t>(first)];
  batch.tokens = at::zeros({n, seq_len + 1}, at::TensorOptions().dtype(at::kLong));
  batch.mask = at::zeros({n, seq_len}, at::TensorOptions().dtype(at::kFloat));
  auto* const tokens = batch.tokens.data_ptr<std::int64_t>();
  auto* const mask = batch.mask.data_ptr<float>();
  for (std::int64_t r = 0; r < n; ++r) {
    const auto w = static_cast<std::size_t>(first + r);
    stream_.copy(windows_.starts[w],
                 {tokens + r * (seq_len + 1), static_cast<std::size_t>(windows_.lengths[w] + 1)});
    std::fill(mask + r * seq_len + windows_.first_counted[w],
              mask + r * seq_len + windows_.lengths[w], 1.0F);
  }
  return batch;
}

}  // namespace depthgrid
