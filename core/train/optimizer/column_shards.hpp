#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/gradient_sync.hpp"
#include "core/train/optimizer/segment_table.hpp"

namespace depthgrid {

/// A division of the P columns of an arena among the R ranks of a team: which of them a rank
/// updates, and keeps the moments of. Ranks that divide nothing have all columns each.
///
/// Source: the optimiser states of ZeRO, "P_os": Rajbhandari et al. (2020), arXiv:1910.02054,
/// section 5.1. Cut at the edges of blocks, so that a parameter is updated by the same operations
/// whoever does it.
class ColumnShards {
 public:
  /// Undivided. @param team  null: a team of one. Must outlive this.
  ColumnShards(std::int64_t row_size, GradientSync* team);
  /// Divided: ranks get about P / R columns each, in their order.
  ColumnShards(const SegmentTable& table, GradientSync& team);

  bool divided() const noexcept { return cuts_.size() > 2; }
  int rank() const noexcept { return team_ == nullptr ? 0 : team_->rank(); }
  /// This rank's columns: [begin, end).
  std::int64_t begin() const { return cuts_[own()]; }
  std::int64_t end() const { return cuts_[own() + 1]; }

  /// Gives every rank the columns of the others. Collective; nothing to do unless divided.
  /// @param arena  (E, P), with this rank's columns up to date.
  void exchange(const at::Tensor& arena) const;

  /// Sums of what each rank has of its own columns. Collective. @param sums  float64 on the host.
  void add_up(at::Tensor& sums) const;

  /// Collective. @param mine  (end - begin), this rank's part of a row.
  /// @return on the first rank the whole row (P) in host memory; on the others undefined.
  at::Tensor gathered(const at::Tensor& mine) const;

  /// Collective. @param mine  this rank's part of a row, which is written.
  /// @param row  (P) float32 in host memory on the first rank; undefined on the others.
  void scatter(const at::Tensor& mine, const at::Tensor& row) const;

 private:
  std::size_t own() const { return divided() ? static_cast<std::size_t>(rank()) : 0; }

  GradientSync* team_;
  std::vector<std::int64_t> cuts_;  // one more than parts
};

}  // namespace depthgrid
