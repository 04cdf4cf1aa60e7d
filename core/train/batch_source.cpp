#include "core/train/batch_source.hpp"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

namespace depthgrid {

TextBatches::TextBatches(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds,
                         std::vector<std::int64_t> first_steps)
    : stream_(std::move(stream)),
      sampler_(sampler),
      seeds_(std::move(seeds)),
      first_steps_(std::move(first_steps)) {
  first_steps_.resize(seeds_.size(), 0);
  shared_ =
      std::ranges::all_of(seeds_, [this](std::uint64_t s) { return s == seeds_[0]; }) &&
      std::ranges::all_of(first_steps_, [this](std::int64_t n) { return n == first_steps_[0]; });
}

Batch TextBatches::batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows));
  const std::int64_t length = sampler_.seq_len() + 1;
  const auto of = [&](std::size_t cell) {
    sampler_.starts(seeds_[cell], first_steps_[cell] + step - 1, first_row, starts);
    at::Tensor windows = at::empty({rows, length}, at::TensorOptions().dtype(at::kLong));
    auto* out = windows.data_ptr<std::int64_t>();
    for (const std::int64_t start : starts) {
      stream_.copy(start, {out, static_cast<std::size_t>(length)});
      out += length;
    }
    return windows;
  };
  if (shared_) {
    const auto cells = static_cast<std::int64_t>(seeds_.size());
    return {of(0).unsqueeze(0).expand({cells, rows, length}), step, first_row};
  }
  std::vector<at::Tensor> cells;
  for (std::size_t e = 0; e < seeds_.size(); ++e) cells.push_back(of(e));
  return {at::stack(cells), step, first_row};
}

}  // namespace depthgrid
