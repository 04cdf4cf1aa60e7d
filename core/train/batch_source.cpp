#include "core/train/batch_source.hpp"

#include <algorithm>

#include <ATen/ops/stack.h>

#include "core/data/windows.hpp"

namespace depthgrid {

TextBatches::TextBatches(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds)
    : stream_(std::move(stream)),
      sampler_(sampler),
      seeds_(std::move(seeds)),
      shared_(std::ranges::all_of(seeds_, [this](std::uint64_t s) { return s == seeds_[0]; })) {}

Batch TextBatches::batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows));
  const auto of = [&](std::uint64_t seed) {
    sampler_.starts(seed, step - 1, first_row, starts);
    return gather_windows(stream_, starts, sampler_.seq_len() + 1);
  };
  if (shared_) {
    const auto cells = static_cast<std::int64_t>(seeds_.size());
    return {of(seeds_[0]).unsqueeze(0).expand({cells, rows, sampler_.seq_len() + 1}), step,
            first_row};
  }
  std::vector<at::Tensor> cells;
  for (const std::uint64_t seed : seeds_) cells.push_back(of(seed));
  return {at::stack(cells), step, first_row};
}

}  // namespace depthgrid
