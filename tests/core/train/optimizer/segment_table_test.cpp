#include "core/train/optimizer/segment_table.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace segment_table_test {

Segment part(std::int64_t offset, std::int64_t count, ParameterGroup group) {
  return {.offset = offset, .count = count, .group = group};
}

TEST(SegmentTable, MergesLikeNeighboursAndCutsBlocks) {
  const std::vector<Segment> segments = {
      part(0, 1500, ParameterGroup::Trunk), part(1500, 1500, ParameterGroup::Trunk),
      part(3000, 10, ParameterGroup::Bias), part(3010, 90, ParameterGroup::Trunk)};

  const SegmentTable table(3100, segments);

  ASSERT_EQ(table.blocks().size(), 4U);
  EXPECT_EQ(table.blocks()[1].offset, 2048);
  EXPECT_EQ(table.blocks()[1].count, 952);
  const auto trunk = table.blocks_of(ParameterGroup::Trunk);
  EXPECT_EQ(std::vector<std::int32_t>(trunk.begin(), trunk.end()),
            (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(table.blocks_of(ParameterGroup::Bias).size(), 1U);
  EXPECT_TRUE(table.blocks_of(ParameterGroup::Predictor).empty());
}

TEST(SegmentTable, RefusesGapsOverlapsAndAShortCover) {
  const std::vector<Segment> gap = {part(0, 5, ParameterGroup::Trunk),
                                    part(6, 4, ParameterGroup::Bias)};
  const std::vector<Segment> overlap = {part(0, 5, ParameterGroup::Trunk),
                                        part(4, 6, ParameterGroup::Bias)};

  EXPECT_THROW(SegmentTable(10, gap), Error);
  EXPECT_THROW(SegmentTable(10, overlap), Error);
  EXPECT_THROW(SegmentTable(11, std::span(gap).first(1)), Error);
}

}  // namespace segment_table_test
}  // namespace depthgrid
