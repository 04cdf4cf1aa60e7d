#include "core/train/batch_source.hpp"

#include <algorithm>

#include <ATen/ops/stack.h>

#include "core/data/windows.hpp"

namespace depthgrid {

BatchSource::BatchSource(TokenStream stream, Sampler sampler, std::vector<std::uint64_t> seeds)
    : stream_(std::move(stream)),
      sampler_(sampler),
      seeds_(std::move(seeds)),
      shared_(std::ranges::all_of(seeds_, [this](std::uint64_t s) { return s == seeds_[0]; })) {}

at::Tensor BatchSource::windows(std::int64_t step, std::int64_t first_row,
                                std::int64_t rows) const {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows));
  const auto of = [&](std::uint64_t seed) {
    sampler_.starts(seed, step, first_row, starts);
    return gather_windows(stream_, starts, sampler_.seq_len() + 1);
  };
  if (shared_) {
    return of(seeds_[0]).unsqueeze(0).expand(
        {static_cast<std::int64_t>(seeds_.size()), rows, sampler_.seq_len() + 1});
  }
  std::vector<at::Tensor> cells;
  for (const std::uint64_t seed : seeds_) cells.push_back(of(seed));
  return at::stack(cells);
}

}  // namespace depthgrid
