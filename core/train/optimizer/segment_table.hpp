#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// A contiguous part of one row (cell) of the arena whose parameters are treated alike.
struct Segment {
  std::int64_t offset = 0;  ///< of the first parameter in the row
  std::int64_t count = 0;
  ParameterGroup group = ParameterGroup::Trunk;
  bool frozen = false;  ///< true: in no gradient norm, never updated
};

/// The optimiser's view of a row of P parameters: segments, cut into blocks of at most kBlockSize.
///
/// The blocks depend only on the structure, never on threads, E or other cells: every device sums
/// over them in this order, which makes norms bitwise equal.
class SegmentTable {
 public:
  static constexpr std::int64_t kBlockSize = 2048;

  /// @param row_size  P.
  /// @param segments  in order of offset, covering 0 ... P without gap or overlap; neighbours with
  ///                  equal attributes are merged.
  /// @throws Error otherwise.
  SegmentTable(std::int64_t row_size, std::span<const Segment> segments);

  std::int64_t row_size() const noexcept { return row_size_; }

  /// At most kBlockSize parameters each, in order of offset.
  std::span<const Segment> blocks() const noexcept { return blocks_; }

  /// Indices into blocks() of one group, in order of offset.
  std::span<const std::int32_t> blocks_of(ParameterGroup group) const;

  /// Indices into blocks(), concatenated over groups, and the start of each group (one entry more
  /// than groups): the data of blocks_of() in one piece, for devices.
  std::span<const std::int32_t> block_order() const noexcept { return order_; }
  std::span<const std::int32_t> group_begin() const noexcept { return group_begin_; }

 private:
  std::int64_t row_size_;
  std::vector<Segment> blocks_;
  std::vector<std::int32_t> order_;
  std::array<std::int32_t, kParameterGroupCount + 1> group_begin_{};
};

}  // namespace depthgrid
