#include "sweeps/compare/seed_pairs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace seed_pairs_test {

using Seeds = std::vector<std::int64_t>;
using Rows = std::vector<std::size_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BasisMismatch nothing_differs(std::size_t, std::size_t) {
  return {};
}

GroupFigures figures_at(const GridCells& cells, const Design& design, std::size_t group) {
  return group_figures(cells.listing, design, design.groups[group],
                       [&](std::size_t row) { return cells.figure(row); });
}

/// Group 1 of d_model less group 0.
SeedPairs pairs_in(const GridCells& cells, bool by_combination = true) {
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const GroupFigures mine = figures_at(cells, design, 1), theirs = figures_at(cells, design, 0);
  return seed_pairs(mine, theirs,
                    by_combination ? equal_combinations(mine, theirs) : whole_groups(mine, theirs),
                    nothing_differs);
}

/// Two levels by two with three seeds: 10 · level + combination + seed / 10, and 4 more of the
/// second level at the second combination.
GridCells two_by_two() {
  return GridCells().grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}}, 3,
                          [](const std::vector<std::size_t>& at, std::int64_t seed) {
                            return 10.0 * static_cast<double>(at[0]) + static_cast<double>(at[1]) +
                                   (at[0] + at[1] == 2 ? 4 : 0) + static_cast<double>(seed) / 10;
                          });
}

TEST(SeedPairs, ASeedIsTheMeanOfItsCombinationsWithEqualWeights) {
  const SeedPairs pairs = pairs_in(two_by_two());
  EXPECT_EQ(pairs.seeds, (Seeds{0, 1, 2}));
  EXPECT_EQ(pairs.combinations, 2U);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_NEAR(pairs.mine[s], 12.5 + static_cast<double>(s) / 10, 1e-12);  // (10 + 15) / 2
    EXPECT_NEAR(pairs.theirs[s], 0.5 + static_cast<double>(s) / 10, 1e-12);
    EXPECT_NEAR(pairs.differences()[s], 12, 1e-12);
  }
  EXPECT_TRUE(pairs.unpaired.empty() && pairs.left_out.empty() && pairs.baseline_left_out.empty());
}

TEST(SeedPairs, ACombinationThatIsIncompleteForASeedLeavesBothSides) {
  GridCells cells = two_by_two();
  cells.at("32,0.2", 1).status = CellStatus::Diverged;  // its figure is of an earlier step
  SeedPairs pairs = pairs_in(cells);
  EXPECT_EQ(pairs.seeds, (Seeds{0, 1, 2}));
  EXPECT_NEAR(pairs.mine[1], 10.1, 1e-12);
  EXPECT_NEAR(pairs.theirs[1], 0.1, 1e-12) << "lr 0.2 of the baseline has left, too";
  EXPECT_NEAR(pairs.differences()[1], 10, 1e-12);
  EXPECT_NEAR(pairs.differences()[0], 12, 1e-12);
  EXPECT_EQ(pairs.unpaired, Rows{cells.row_of("16,0.2", 1)});
  cells.at("16,0.1", 1).metrics.clear();  // now the seed has nothing in common
  pairs = pairs_in(cells);
  EXPECT_EQ(pairs.seeds, (Seeds{0, 2}));
  EXPECT_EQ(pairs.unpaired, (Rows{cells.row_of("32,0.1", 1), cells.row_of("16,0.2", 1)}));
  EXPECT_TRUE(pairs.left_out.empty() && pairs.baseline_left_out.empty());
}

TEST(SeedPairs, SeedsOfOneGroupAloneAreNamed) {
  GridCells cells = two_by_two();
  for (const char* arm : {"16,0.1", "16,0.2"}) cells.at(arm, 0).status = CellStatus::Failed;
  for (const char* arm : {"32,0.1", "32,0.2"}) cells.at(arm, 2).status = CellStatus::Pending;
  const SeedPairs pairs = pairs_in(cells);
  EXPECT_EQ(pairs.seeds, Seeds{1});
  EXPECT_EQ(pairs.left_out, Seeds{0});
  EXPECT_EQ(pairs.baseline_left_out, Seeds{2});
  EXPECT_TRUE(pairs.unpaired.empty()) << "those are seeds, not combinations";
}

TEST(SeedPairs, OfCellsWithOneSeedAndCombinationTheFirstCounts) {
  GridCells cells = two_by_two();
  cells.add({{"model.d_model", 32}, {"train.lr", 0.2}}, 1, 99);
  EXPECT_NEAR(pairs_in(cells).differences()[1], 12, 1e-12);
  cells.at("32,0.2", 1).metrics["final_loss.valid"] = kNaN;  // the first that has a figure
  EXPECT_NEAR(pairs_in(cells).mine[1], (10.1 + 99) / 2, 1e-12);
}

TEST(SeedPairs, OnlyCompletedCellsHaveFiguresAndInfiniteOnesCount) {
  GridCells cells = two_by_two();
  cells.at("16,0.1", 0).metrics["final_loss.valid"] = kInfinity;
  cells.at("16,0.2", 0).status = CellStatus::Running;
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const GroupFigures figures = figures_at(cells, design, 0);
  ASSERT_EQ(figures.at(0).size(), 1U);
  EXPECT_EQ(figures.at(0).begin()->second.row, 0U);
  EXPECT_EQ(figures.at(0).begin()->second.value, kInfinity);
  EXPECT_EQ(pairs_in(cells).differences()[0], -kInfinity);
}

TEST(SeedPairs, OneMismatchRefusesAll) {
  const GridCells cells = two_by_two();
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const std::size_t last = cells.row_of("32,0.2", 2), other = cells.row_of("16,0.2", 2);
  std::size_t asked = 0;
  const GroupFigures a = figures_at(cells, design, 1), b = figures_at(cells, design, 0);
  const SeedPairs pairs =
      seed_pairs(a, b, equal_combinations(a, b), [&](std::size_t mine, std::size_t theirs) {
        ++asked;
        BasisMismatch out;
        if (mine == last && theirs == other) {
          out.differences.push_back({"what", Value(1), Value(2)});
        }
        return out;
      });
  EXPECT_EQ(asked, 6U) << "each pair of cells";
  EXPECT_TRUE(pairs.refused);
  EXPECT_TRUE(pairs.seeds.empty() && pairs.mine.empty());
}

TEST(SeedPairs, OtherCombinationsOfAnArmAreAveragedForThemselves) {
  GridCells cells = two_by_two();
  for (const double lr : {1.0, 2.0, 3.0}) {  // none of the others'
    for (int seed = 0; seed < 3; ++seed) {
      cells.add({{"model.d_model", 64}, {"train.lr", lr}}, seed, lr + seed);
    }
  }
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const GroupFigures arm = figures_at(cells, design, 2), base = figures_at(cells, design, 0);
  EXPECT_TRUE(seed_pairs(arm, base, equal_combinations(arm, base), nothing_differs).seeds.empty());
  SeedPairs pairs = seed_pairs(arm, base, whole_groups(arm, base), nothing_differs);
  EXPECT_EQ(pairs.seeds, (Seeds{0, 1, 2}));
  EXPECT_NEAR(pairs.mine[1], 3, 1e-12);  // (1 + 2 + 3) / 3 + 1
  EXPECT_NEAR(pairs.theirs[1], 0.6, 1e-12);
  cells.at("64,2", 1).status = CellStatus::Oom;
  const GroupFigures less = figures_at(cells, design, 2);
  pairs = seed_pairs(less, base, whole_groups(less, base), nothing_differs);
  EXPECT_EQ(pairs.seeds, (Seeds{0, 2})) << "a mean over fewer is none of the group";
  EXPECT_EQ(pairs.unpaired.size(), 4U) << "two that are left of the arm, two of the baseline";
}

TEST(SeedPairs, AveragesOfAGroupAreOfSeedsThatHaveAllOfIt) {
  GridCells cells = two_by_two();
  cells.at("16,0.2", 1).status = CellStatus::Diverged;
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const auto averages = seed_averages(figures_at(cells, design, 0));
  ASSERT_EQ(averages.size(), 2U);
  EXPECT_NEAR(averages.at(0), 0.5, 1e-12);
  EXPECT_NEAR(averages.at(2), 0.7, 1e-12);
  EXPECT_TRUE(seed_averages({}).empty());
}

TEST(SeedPairs, SeedsWithAsManyButOtherCombinationsAreNotWhole) {
  GridCells cells;
  const double lr[3][2] = {{1, 2}, {2, 3}, {1, 3}};  // of each seed; the group has 1, 2 and 3
  for (int seed = 0; seed < 3; ++seed) {
    for (const double value : lr[seed]) cells.add({{"train.lr", value}}, seed, value, "plain");
  }
  for (int seed = 0; seed < 3; ++seed) cells.add({{"model.d_model", 16}}, seed, 0);
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  const GroupFigures arm = figures_at(cells, design, 1);
  EXPECT_TRUE(seed_averages(arm).empty());
  const GroupFigures base = figures_at(cells, design, 0);
  EXPECT_TRUE(seed_pairs(arm, base, whole_groups(arm, base), nothing_differs).seeds.empty());
}

TEST(SeedPairs, OfGroupsAveragedForThemselvesEveryCellIsAskedForItsMismatch) {
  const GridCells cells = two_by_two();
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  std::set<std::size_t> asked;
  const GroupFigures a = figures_at(cells, design, 1), b = figures_at(cells, design, 0);
  seed_pairs(a, b, whole_groups(a, b), [&](std::size_t mine, std::size_t theirs) {
    asked.insert({mine, theirs});
    return BasisMismatch();
  });
  EXPECT_EQ(asked.size(), 12U);
}

}  // namespace seed_pairs_test
}  // namespace depthgrid
