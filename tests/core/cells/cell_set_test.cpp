#include "core/cells/cell_set.hpp"

#include <gtest/gtest.h>

#include <torch/types.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace cell_set_test {

TEST(CellSet, BeginsRunningAndRetiresOneCellAtATime) {
  CellSet cells(3);
  ASSERT_EQ(cells.size(), 3);
  EXPECT_EQ(cells.status(1), CellStatus::Running);

  cells.retire(1, CellStatus::Diverged);

  EXPECT_EQ(cells.status(0), CellStatus::Running);
  EXPECT_EQ(cells.status(1), CellStatus::Diverged);
  EXPECT_EQ(cells.status(2), CellStatus::Running);
}

TEST(CellSet, HasOneCellAtLeastAndNoOtherThanItsOwn) {
  EXPECT_THROW(CellSet(0), ShapeError);
  CellSet cells(2);
  EXPECT_THROW(cells.status(2), std::out_of_range);
  EXPECT_THROW(cells.retire(-1, CellStatus::Failed), std::out_of_range);
}

TEST(PerCell, BroadcastsOneNumberOfEachCell) {
  const at::Tensor v = torch::tensor({2.0, 3.0});
  const at::Tensor x = torch::ones({2, 4, 5});

  EXPECT_EQ(per_cell(v, x).sizes(), (at::IntArrayRef{2, 1, 1}));
  EXPECT_TRUE((per_cell(v, x) * x)[1].eq(3).all().item<bool>());
}

TEST(CellStatus, HasAWordForEveryState) {
  EXPECT_EQ(name_of(CellStatus::Pending), "pending");
  EXPECT_EQ(name_of(CellStatus::Diverged), "diverged");
  EXPECT_EQ(name_of(CellStatus::Oom), "oom");
}

}  // namespace cell_set_test
}  // namespace depthgrid
