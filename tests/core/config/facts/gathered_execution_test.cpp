#include "core/config/facts/gathered_execution.hpp"

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"

namespace depthgrid {
namespace gathered_execution_test {

std::optional<std::int64_t> count(const ValueMap& leaves) {
  const CellConfig config = make_config(leaves);
  return capacity_count(config.by_path());
}

TEST(GatheredExecution, CapacityIsRoundedDownWithoutLosingAWholeNumber) {
  EXPECT_EQ(capacity_of(.29, 100), 29);  // 28.999999999999996 in doubles
  EXPECT_EQ(capacity_of(.25, 7), 1);
  EXPECT_EQ(capacity_of(.1, 5), 0);
  EXPECT_EQ(capacity_of(.1, 5, 1), 1);
  EXPECT_EQ(capacity_of(1, 5), 5);
  EXPECT_EQ(capacity_of(0, 0, 1), 0);  // never more than there are
}

TEST(GatheredExecution, AFamilyCountsByItsOwnLeaves) {
  EXPECT_EQ(count({{"model.family", "tdt"}, {"model.tdt.capacity", .5}, {"data.seq_len", 10}}), 5);
  EXPECT_EQ(count({{"model.family", "mod"}, {"model.mod.capacity", .3}, {"data.seq_len", 10}}), 3);
  EXPECT_EQ(count({{"model.family", "standard"}}), std::nullopt);
}

TEST(GatheredExecution, OnlyAFamilyThatHasALeastCountKeepsIt) {
  EXPECT_EQ(count({{"model.family", "tdt"}, {"model.tdt.capacity", .0}, {"model.tdt.min_k", 1}}),
            1);
  EXPECT_EQ(count({{"model.family", "tdt"}, {"model.tdt.capacity", .0}}), 0);
  EXPECT_EQ(count({{"model.family", "mod"}, {"model.mod.capacity", .0}}), 0);
}

}  // namespace gathered_execution_test
}  // namespace depthgrid
