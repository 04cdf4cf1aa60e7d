#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// A contiguous part of one row (one cell) of the arena whose parameters are treated alike.
struct Segment {
  std::int64_t offset = 0;  ///< first parameter, counted from the start of the row
  std::int64_t count = 0;
  ParameterGroup group = ParameterGroup::Trunk;
  bool decays = true;   ///< false: on the no-decay list
  bool frozen = false;  ///< true: not part of any gradient norm, never updated
};

/// How the optimiser sees a row of P parameters: segments, cut into blocks of at most kBlockSize.
///
/// The cut depends on the structure alone, never on threads, on E or on a cell's neighbours: sums
/// over blocks are taken in this order on every device, which is what makes norms bit-equal.
class SegmentTable {
 public:
  static constexpr std::int64_t kBlockSize = 2048;

  /// @param row_size  P.
  /// @param segments  in order of offset, covering 0 ... P without gap or overlap; neighbours with
  ///                  equal attributes are merged.
  /// @throws Error if they do not.
  SegmentTable(std::int64_t row_size, std::span<const Segment> segments);

  std::int64_t row_size() const noexcept { return row_size_; }
  std::span<const Segment> segments() const noexcept { return segments_; }

  /// At most kBlockSize parameters each, in order of offset.
  std::span<const Segment> blocks() const noexcept { return blocks_; }

  /// Indices into blocks() of one group, in order of offset.
  std::span<const std::int32_t> blocks_of(ParameterGroup group) const;

  /// Indices into blocks(), all groups one after another, and where each group begins (one more
  /// entry than groups): what blocks_of() cuts from, for a device that wants it in one piece.
  std::span<const std::int32_t> block_order() const noexcept { return order_; }
  std::span<const std::int32_t> group_begin() const noexcept { return group_begin_; }

 private:
  std::int64_t row_size_;
  std::vector<Segment> segments_;
  std::vector<Segment> blocks_;
  std::vector<std::int32_t> order_;
  std::array<std::int32_t, kParameterGroupCount + 1> group_begin_{};
};

}  // namespace depthgrid
