#include "sweeps/report/chosen_cells.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace chosen_cells_test {

using Flags = std::vector<bool>;

TEST(ChosenCells, AreThoseOfTheConditionAndTheCellsTheyStartFrom) {
  const Sweep sweep = SweepFiles().load(kPhases);  // a, b (from a) and c, with two seeds each
  EXPECT_EQ(chosen_cells(sweep, ""), Flags(6, true));
  EXPECT_EQ(chosen_cells(sweep, "tag = c and seed = 1"),
            (Flags{false, false, false, false, false, true}));
  EXPECT_EQ(chosen_cells(sweep, "tag = b and seed = 0"),
            (Flags{true, false, true, false, false, false}));
}

TEST(ChosenCells, AConditionWithoutCellsIsAnError) {
  const Sweep sweep = SweepFiles().load(kPhases);
  try {
    chosen_cells(sweep, "tag = d");
    ADD_FAILURE() << "no cell is no error";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("tag is a, b or c"), std::string::npos) << e.what();
  }
  EXPECT_THROW(chosen_cells(sweep, "tga = a"), UserError);
}

}  // namespace chosen_cells_test
}  // namespace depthgrid
