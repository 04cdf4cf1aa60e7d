#include "core/train/optimizer/segment_table.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

bool alike(const Segment& a, const Segment& b) {
  return a.group == b.group && a.frozen == b.frozen;
}

void expect_next(const Segment& segment, std::int64_t end) {
  const std::string at = "segment at " + std::to_string(segment.offset);
  if (segment.offset != end) {
    throw Error(at + ": expected offset " + std::to_string(end) + " (no gap, no overlap)");
  }
  if (segment.count < 0) throw Error(at + ": negative count");
}

}  // namespace

SegmentTable::SegmentTable(std::int64_t row_size, std::span<const Segment> segments)
    : row_size_(row_size) {
  std::vector<Segment> merged;
  std::int64_t end = 0;
  for (const Segment& segment : segments) {
    expect_next(segment, end);
    end += segment.count;
    if (segment.count == 0) continue;
    if (!merged.empty() && alike(merged.back(), segment)) {
      merged.back().count += segment.count;
    } else {
      merged.push_back(segment);
    }
  }
  if (end != row_size) {
    throw Error("segments cover " + std::to_string(end) + " of " + std::to_string(row_size) +
                " parameters");
  }
  for (const Segment& segment : merged) {
    for (std::int64_t done = 0; done < segment.count; done += kBlockSize) {
      Segment block = segment;
      block.offset += done;
      block.count = std::min(kBlockSize, segment.count - done);
      blocks_.push_back(block);
    }
  }
  order_.reserve(blocks_.size());
  for (std::size_t group = 0; group < kParameterGroupCount; ++group) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].group == ParameterGroup{static_cast<std::uint8_t>(group)})
        order_.push_back(static_cast<std::int32_t>(b));
    }
    group_begin_[group + 1] = static_cast<std::int32_t>(order_.size());
  }
}

std::span<const std::int32_t> SegmentTable::blocks_of(ParameterGroup group) const {
  const auto at = static_cast<std::size_t>(group);
  const auto begin = static_cast<std::size_t>(group_begin_.at(at));
  return std::span(order_).subspan(begin,
                                   static_cast<std::size_t>(group_begin_.at(at + 1)) - begin);
}

}  // namespace depthgrid
