#include "core/train/optimizer/column_shards.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

namespace depthgrid {

ColumnShards::ColumnShards(std::int64_t row_size, GradientSync* team)
    : team_(team), cuts_{0, row_size} {}

ColumnShards::ColumnShards(const SegmentTable& table, GradientSync& team) : team_(&team) {
  const std::int64_t ranks = team.ranks();
  std::size_t block = 0;
  for (std::int64_t r = 0; r < ranks; ++r) {
    const std::int64_t ideal = table.row_size() * r / ranks;
    while (block < table.blocks().size() && table.blocks()[block].offset < ideal) ++block;
    cuts_.push_back(block < table.blocks().size() ? table.blocks()[block].offset
                                                  : table.row_size());
  }
  cuts_.push_back(table.row_size());
}

void ColumnShards::exchange(const at::Tensor& arena) const {
  if (!divided()) return;
  const at::NoGradGuard no_grad;
  for (std::size_t r = 0; r + 1 < cuts_.size(); ++r) {
    for (std::int64_t e = 0; e < arena.size(0); ++e) {
      at::Tensor part = arena.select(0, e).narrow(0, cuts_[r], cuts_[r + 1] - cuts_[r]);
      team_->broadcast(part, static_cast<int>(r));
    }
  }
}

void ColumnShards::add_up(at::Tensor& sums) const {
  if (divided()) team_->sum(sums);
}

at::Tensor ColumnShards::gathered(const at::Tensor& mine) const {
  if (!divided()) return rank() == 0 ? mine.cpu() : at::Tensor();
  const at::NoGradGuard no_grad;
  at::Tensor row;
  if (rank() == 0) row = at::empty({cuts_.back()}, mine.options().device(at::kCPU));
  for (std::size_t r = 0; r + 1 < cuts_.size(); ++r) {
    const std::int64_t count = cuts_[r + 1] - cuts_[r];
    at::Tensor part = r == own() ? mine : at::empty({count}, mine.options());
    team_->broadcast(part, static_cast<int>(r));
    if (row.defined()) row.narrow(0, cuts_[r], count).copy_(part);
  }
  return row;
}

void ColumnShards::scatter(const at::Tensor& mine, const at::Tensor& row) const {
  const at::NoGradGuard no_grad;
  for (std::size_t r = 0; r + 1 < cuts_.size(); ++r) {
    const std::int64_t count = cuts_[r + 1] - cuts_[r];
    at::Tensor part = at::empty({count}, mine.options());
    if (row.defined()) part.copy_(row.narrow(0, cuts_[r], count));
    if (team_ != nullptr) team_->broadcast(part, 0);
    if (r == own()) mine.copy_(part);
  }
}

}  // namespace depthgrid
