#include "sweeps/compare/parameter_basis.hpp"

#include <gtest/gtest.h>

#include "tests/sweeps/compare/compare_answer.hpp"

namespace depthgrid {
namespace {

namespace parameter_basis_test {

GridCells sized_grid() {
  GridCells cells = two_factor_grid();
  for (CellSummary& cell : cells.listing.cells) {
    cell.parameters = cell.arm.starts_with("64") ? 4000 : cell.arm.starts_with("32") ? 2000 : 1000;
  }
  return cells;
}

TEST(ParameterMismatch, TheBlockThatMakesArmsEqualNamesTheLargestArm) {
  const GridCells cells = sized_grid();
  const BasisMismatch refused = ParameterBasis(cells.listing, 0.01)
                                    .mismatch(cells.row_of("32,0.1", 0), cells.row_of("16,0.1", 0));
  EXPECT_EQ(refused.differences.size(), 1U);
  EXPECT_TRUE(has(refused.advice,
                  "match: {on: parameters, vary: model.d_ff, tolerance: 0.01, "
                  "reference: {model.d_model: 64, train.lr: 0.1}}"))
      << refused.advice;
}

TEST(ParameterMismatch, AnArmWithATagIsNamedByIt) {
  GridCells cells = sized_grid();
  for (CellSummary& cell : cells.listing.cells) {
    if (cell.arm == "64,0.1") cell.tag = "wide";
  }
  EXPECT_TRUE(has(ParameterBasis(cells.listing, 0.01)
                      .mismatch(cells.row_of("64,0.2", 0), cells.row_of("16,0.2", 0))
                      .advice,
                  "reference: {tag: \"wide\"}}"));
}

TEST(ParameterMismatch, NoBlockIsAdvisedThatVariesAFactor) {
  GridCells cells;
  cells.grid({{"model.d_ff", {16, 32}}}, 1,
             [](const std::vector<std::size_t>&, std::int64_t) { return 2.0; });
  cells.listing.cells[0].parameters = 1000;
  cells.listing.cells[1].parameters = 2000;
  const BasisMismatch refused = ParameterBasis(cells.listing, 0.01).mismatch(1, 0);
  EXPECT_TRUE(refused && !has(refused.advice, "model.d_ff")) << refused.advice;
}

TEST(ParameterMismatch, NothingIsRefusedWithinTheToleranceOrWithoutOne) {
  const GridCells cells = sized_grid();
  const std::size_t a = cells.row_of("64,0.1", 0), b = cells.row_of("16,0.1", 0);
  EXPECT_FALSE(ParameterBasis(cells.listing, std::nullopt).mismatch(a, b));
  EXPECT_FALSE(ParameterBasis(cells.listing, 3.0).mismatch(a, b));
}

}  // namespace parameter_basis_test

}  // namespace
}  // namespace depthgrid
