#include "sweeps/compare/two_way.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace two_way_test {

// Losses of 3 × 2 levels and four seeds.
const BlockGrid<double> kLosses = {
    .levels_a = 3, .levels_b = 2, .seeds = 4, .cells = {2.381, 2.375, 2.390, 2.384, 2.372, 2.369,
                                                        2.377, 2.371, 2.402, 2.391, 2.399, 2.406,
                                                        2.365, 2.371, 2.380, 2.369, 2.410, 2.404,
                                                        2.421, 2.408, 2.388, 2.379, 2.394, 2.390}};

// Losses of four levels in order and five seeds.
const BlockGrid<double> kOrdered = {
    .levels_a = 4, .levels_b = 1, .seeds = 5, .cells = {2.40, 2.39, 2.41, 2.42, 2.38, 2.38, 2.40,
                                                        2.37, 2.39, 2.36, 2.37, 2.36, 2.39, 2.35,
                                                        2.37, 2.35, 2.34, 2.36, 2.38, 2.33}};

void expect_relative(double number, double expected) {
  EXPECT_NEAR(number, expected, 1e-10 * std::abs(expected));
}

TEST(TwoWay, EffectsAreTestedAgainstTheirOwnInteractionWithTheSeed) {
  // statsmodels 0.15.0: AnovaRM(frame, "loss", "seed", within=["fa", "fb"]).fit().anova_table
  const TwoWayEffects e = two_way_effects(kLosses);
  expect_relative(e.a.f, 153.73202614381347);
  expect_relative(e.a.p, 7.012784934548051e-06);
  EXPECT_EQ(e.a.degrees, 2);
  EXPECT_EQ(e.a.error_degrees, 6);
  expect_relative(e.b.f, 225.80597014925104);
  expect_relative(e.b.p, 0.0006397152484731604);
  EXPECT_EQ(e.b.error_degrees, 3);
  expect_relative(e.interaction.f, 6.416536661466357);
  expect_relative(e.interaction.p, 0.03233628764371064);
  EXPECT_EQ(e.interaction.degrees, 2);
  EXPECT_EQ(e.interaction.error_degrees, 6);
}

TEST(TwoWay, SharesOfVarianceComeFromSumsOfSquares) {
  // anova_lm(ols("loss ~ C(fa) * C(fb) * C(seed)", frame).fit())["sum_sq"]
  const TwoWayEffects e = two_way_effects(kLosses);
  expect_relative(e.a.squares, 0.00196008333333333);
  expect_relative(e.a.error_squares, 3.825e-05);
  expect_relative(e.b.squares, 0.0025215);
  expect_relative(e.b.error_squares, 3.35e-05);
  expect_relative(e.interaction.squares, 0.00034275);
  expect_relative(e.interaction.error_squares, 0.00016025);
  expect_relative(e.seed_squares, 0.000441);
  expect_relative(e.total_squares, 0.00549733333333333);
  // From these: SS / SS_total, SS / (SS + SS_err), (SS - df MS_err) / (SS_total + MS_seed)
  expect_relative(e.a.eta2, 0.3565516614116);
  expect_relative(e.a.partial_eta2, 0.98085904920767);
  expect_relative(e.a.omega2, 0.34500679147229);
  expect_relative(e.b.eta2, 0.45867693427117);
  expect_relative(e.b.omega2, 0.44475284946555);
  expect_relative(e.interaction.partial_eta2, 0.6814115308151);
  expect_relative(e.interaction.omega2, 0.05126085159156);
}

TEST(TwoWay, AFactorOfTwoLevelsIsAPairedTTest) {
  std::vector<double> differences(4);
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t a = 0; a < 3; ++a) {
      differences[s] +=
          (kLosses.cells[kLosses.index(a, 1, s)] - kLosses.cells[kLosses.index(a, 0, s)]) / 3;
    }
  }
  const PairedContrast c = paired_contrast(differences);
  expect_relative(two_way_effects(kLosses).b.f, c.t * c.t);
  expect_relative(two_way_effects(kLosses).b.p, c.p);
}

TEST(TwoWay, WhatASeedAddsToAllItsCellsChangesOnlyTheSeedsShare) {
  BlockGrid<double> shifted = kLosses;
  for (std::size_t i = 0; i < shifted.cells.size(); ++i) shifted.cells[i] += i % 4 == 2 ? 8 : -3;
  const TwoWayEffects e = two_way_effects(shifted);
  EXPECT_NEAR(e.a.f, 153.73202614381347, 1e-6);
  EXPECT_NEAR(e.interaction.p, 0.03233628764371064, 1e-9);
  EXPECT_GT(e.seed_squares / e.total_squares, 0.999);
}

TEST(TwoWay, OneFactorIsAGridWithOneLevelOfTheOther) {
  const TwoWayEffects e = two_way_effects(kOrdered);
  // AnovaRM(frame, "loss", "seed", within=["fa"]).fit().anova_table
  expect_relative(e.a.f, 8.740213523131697);
  expect_relative(e.a.p, 0.002400662856600333);
  EXPECT_TRUE(std::isnan(e.b.squares) && std::isnan(e.interaction.f));
}

TEST(TwoWay, OneSeedHasSharesButNoP) {
  const TwoWayEffects e =
      two_way_effects({.levels_a = 2, .levels_b = 2, .seeds = 1, .cells = {1.0, 2.0, 3.0, 5.0}});
  EXPECT_NEAR(e.a.eta2, 6.25 / 8.75, 1e-14);
  EXPECT_NEAR(e.interaction.eta2, 0.25 / 8.75, 1e-14);
  EXPECT_TRUE(std::isnan(e.a.f) && std::isnan(e.a.p) && std::isnan(e.a.omega2));
}

TEST(TwoWay, WithoutErrorThereIsNoPAndWithoutVarianceNoShare) {
  BlockGrid<double> exact = {.levels_a = 2, .levels_b = 2, .seeds = 3, .cells = {}};
  for (const double level : {.1, .2, .4, .7}) {
    for (const double seed : {.3, .6, .7}) exact.cells.push_back(level + seed);
  }
  const TwoWayEffects e = two_way_effects(exact);
  EXPECT_TRUE(std::isnan(e.a.f) && std::isnan(e.a.p) && std::isnan(e.a.omega2));
  EXPECT_NEAR(e.a.partial_eta2, 1, 1e-12);
  exact.cells.assign(12, 0.1);
  EXPECT_TRUE(std::isnan(two_way_effects(exact).a.eta2));
  EXPECT_TRUE(std::isnan(two_way_effects(exact).a.partial_eta2));
  exact.cells[5] = kNaN;
  EXPECT_TRUE(std::isnan(two_way_effects(exact).total_squares));
  exact.cells.pop_back();
  EXPECT_THROW(two_way_effects(exact), Error);
}

BlockGrid<char> all_present(std::size_t a, std::size_t b, std::size_t seeds) {
  return {
      .levels_a = a, .levels_b = b, .seeds = seeds, .cells = std::vector<char>(a * b * seeds, 1)};
}

TEST(TwoWay, ACompleteGridIsItsOwnLargestSubGrid) {
  const CompleteSubGrid whole = complete_sub_grid(all_present(3, 2, 4));
  EXPECT_EQ(whole.cells(), 24U);
  EXPECT_EQ(whole.seeds, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(complete_sub_grid(all_present(0, 2, 4)).a.empty());
  EXPECT_EQ(complete_sub_grid(all_present(3, 1, 1)).cells(), 3U);
}

TEST(TwoWay, ADivergedCellCostsTheCheapestSide) {
  BlockGrid<char> grid = all_present(5, 3, 4);
  grid.cells[grid.index(1, 2, 3)] = 0;  // without level 1 of A: 48; seed 3: 45; level 2 of B: 40
  const CompleteSubGrid sub = complete_sub_grid(grid);
  EXPECT_EQ(sub.a, (std::vector<std::size_t>{0, 2, 3, 4}));
  EXPECT_EQ(sub.cells(), 48U);
  grid = all_present(4, 4, 4);
  grid.cells[grid.index(1, 2, 3)] = 0;  // all three cost 16: seeds are kept, then levels of A
  EXPECT_EQ(complete_sub_grid(grid).b, (std::vector<std::size_t>{0, 1, 3}));
  grid = all_present(4, 1, 4);
  grid.cells[grid.index(1, 0, 3)] = 0;  // a level or a seed
  EXPECT_EQ(complete_sub_grid(grid).seeds.size(), 4U);
}

/// The most cells of a complete sub-grid, by trying all subsets of all sides.
std::size_t most_cells(const BlockGrid<char>& grid) {
  std::size_t best = 0;
  for (unsigned in_a = 1; in_a < 1U << grid.levels_a; ++in_a) {
    for (unsigned in_b = 1; in_b < 1U << grid.levels_b; ++in_b) {
      for (unsigned in_s = 1; in_s < 1U << grid.seeds; ++in_s) {
        std::size_t cells = 0;
        bool complete =
            std::min({std::popcount(in_a), std::popcount(in_b), std::popcount(in_s)}) >= 2;
        for (std::size_t i = 0; i < grid.cells.size() && complete; ++i) {
          const std::size_t s = i % grid.seeds;
          const std::size_t b = i / grid.seeds % grid.levels_b;
          const std::size_t a = i / grid.seeds / grid.levels_b;
          if ((in_a >> a & in_b >> b & in_s >> s & 1U) == 0) continue;
          complete = grid.cells[i] != 0;
          ++cells;
        }
        if (complete) best = std::max(best, cells);
      }
    }
  }
  return best;
}

bool is_complete(const BlockGrid<char>& grid, const CompleteSubGrid& sub) {
  for (const std::size_t a : sub.a) {
    for (const std::size_t b : sub.b) {
      for (const std::size_t s : sub.seeds) {
        if (grid.cells[grid.index(a, b, s)] == 0) return false;
      }
    }
  }
  return true;
}

TEST(TwoWay, NoLargerSubGridExists) {
  std::mt19937 words(5);
  for (int repeat = 0; repeat < 60; ++repeat) {
    BlockGrid<char> grid = all_present(2 + words() % 3, 2 + words() % 3, 2 + words() % 3);
    const unsigned missing = 10 + words() % 60;  // percent
    for (char& cell : grid.cells) cell = words() % 100 < missing ? 0 : 1;
    const CompleteSubGrid sub = complete_sub_grid(grid);
    EXPECT_TRUE(sub.exact);
    EXPECT_TRUE(is_complete(grid, sub));
    EXPECT_EQ(sub.cells(), most_cells(grid));
  }
}

TEST(TwoWay, LargeGridsAreSearchedGreedilyAndAlike) {
  BlockGrid<char> grid = all_present(12, 11, 70);
  for (std::size_t i = 0; i < 70; ++i) grid.cells[grid.index(3, i % 11, i)] = 0;
  grid.cells[grid.index(0, 0, 9)] = 0;
  const CompleteSubGrid sub = complete_sub_grid(grid);
  EXPECT_FALSE(sub.exact);
  EXPECT_TRUE(is_complete(grid, sub));
  EXPECT_EQ(sub.a.size(), 11U);  // without level 3
  EXPECT_EQ(sub.cells(), 11U * 11 * 69);
  EXPECT_EQ(complete_sub_grid(grid).seeds, sub.seeds);
  std::ranges::fill(grid.cells, 0);
  EXPECT_EQ(complete_sub_grid(grid).cells(), 0U);
  for (std::size_t i = 0; i < 8; ++i) grid.cells[grid.index(i / 4, i / 2 % 2, 30 + i % 2)] = 1;
  EXPECT_EQ(complete_sub_grid(grid).seeds, (std::vector<std::size_t>{30, 31}));
  grid.cells[grid.index(1, 1, 31)] = 0;  // not two levels of both and two seeds any more
  EXPECT_EQ(complete_sub_grid(grid).cells(), 0U);
}

TEST(TwoWay, TheGreedySearchTakesBackWhatIsCompleteInTheEnd) {
  BlockGrid<char> grid = all_present(9, 2, 70);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t s = 0; s < 32; ++s) {
      grid.cells[grid.index(0, b, s)] = 0;  // so level 0 is dropped first
      grid.cells[grid.index(1 + s / 4, b, s)] = 0;
    }
  }
  const CompleteSubGrid sub = complete_sub_grid(grid);
  EXPECT_EQ(sub.cells(), 9U * 2 * 38);
}

TEST(TwoWay, ATrendIsTheSlopeOfEachSeed) {
  // scipy 1.17.1: st.ttest_1samp([st.linregress(x, column).slope for column in y.T], 0) for
  // x = 0, 1, 2, 3 and 1, 2, 4, 8
  const MonotoneTrend even = monotone_trend(kOrdered);
  expect_relative(even.slope.mean, -0.0156);
  expect_relative(even.slope.t, -15.152059452772777);
  EXPECT_NEAR(even.slope.p, 0.00011060064992394821, 1e-10);
  const MonotoneTrend doubled = monotone_trend(kOrdered, std::vector<double>{1, 2, 4, 8});
  expect_relative(doubled.slope.mean, -0.00615652173913044);
  expect_relative(doubled.slope.t, -9.919819900337108);
  EXPECT_EQ(doubled.page_l, even.page_l);
  EXPECT_EQ(doubled.slope.n, 5U);
}

TEST(TwoWay, PagesTestIsExactForFewLevels) {
  // st.page_trend_test(y.T, method="exact"), and with predicted_ranks=[4, 3, 2, 1]
  const MonotoneTrend t = monotone_trend(kOrdered);
  EXPECT_TRUE(t.exact);
  EXPECT_EQ(t.page_l, 104);
  EXPECT_NEAR(t.p_rising, 0.9999421045122813, 1e-12);
  EXPECT_NEAR(t.p_falling, 0.00017531909079218107, 1e-14);
  EXPECT_NEAR(t.p, 2 * 0.00017531909079218107, 1e-14);
  BlockGrid<double> eight = {.levels_a = 8, .levels_b = 1, .seeds = 12, .cells = {}};
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t k = 0; k < 12; ++k) {
      eight.cells.push_back(static_cast<double>((i * 7 + k * k * 3) % 11) +
                            static_cast<double>(i) * .9 + .01 * static_cast<double>(k));
    }
  }
  EXPECT_EQ(monotone_trend(eight).page_l, 2258);
  expect_relative(monotone_trend(eight).p_rising, 3.9045949395362044e-10);
}

TEST(TwoWay, PagesTestIsNormalForTiesAndManyLevels) {
  // st.page_trend_test(method="asymptotic") after y[0, 0] = y[1, 0], and for nine levels
  BlockGrid<double> tied = kOrdered;
  tied.cells[0] = tied.cells[5];
  EXPECT_FALSE(monotone_trend(tied).exact);
  EXPECT_EQ(monotone_trend(tied).page_l, 104.5);
  EXPECT_NEAR(monotone_trend(tied).p_rising, 0.9992529996888757, 1e-12);
  BlockGrid<double> nine = {.levels_a = 9, .levels_b = 1, .seeds = 6, .cells = {}};
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t k = 0; k < 6; ++k) {
      nine.cells.push_back(static_cast<double>((i * 7 + k * k * 3) % 11) +
                           static_cast<double>(i) * .9 + .01 * static_cast<double>(k));
    }
  }
  EXPECT_EQ(monotone_trend(nine).page_l, 1585);
  EXPECT_NEAR(monotone_trend(nine).p_rising, 3.0545610046077342e-06, 1e-16);
}

TEST(TwoWay, ATrendNeedsTwoLevelsTwoSeedsAndAscendingScores) {
  BlockGrid<double> grid = {.levels_a = 3, .levels_b = 1, .seeds = 1, .cells = {1, 2, 3}};
  const MonotoneTrend one = monotone_trend(grid);
  EXPECT_EQ(one.page_l, 14);
  EXPECT_EQ(one.slope.mean, 1);
  EXPECT_TRUE(std::isnan(one.p) && std::isnan(one.slope.p));
  EXPECT_THROW(monotone_trend(grid, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(monotone_trend(grid, std::vector<double>{1, 2, 2}), Error);
  EXPECT_THROW(monotone_trend(kLosses), Error);
  grid.levels_a = 1;
  grid.seeds = 3;
  EXPECT_TRUE(std::isnan(monotone_trend(grid).page_l));
  grid = {.levels_a = 3, .levels_b = 1, .seeds = 2, .cells = {1, 1, 1, 1, 1, 1}};
  EXPECT_EQ(monotone_trend(grid).p, 1);  // nothing but ties
  EXPECT_TRUE(std::isnan(monotone_trend(grid).slope.p));
  grid.cells = {1, 1, 2, 2, 3, 3};
  EXPECT_NEAR(monotone_trend(grid).p, 2.0 / 36, 1e-15);
  grid.cells[2] = kNaN;
  EXPECT_TRUE(std::isnan(monotone_trend(grid).page_l) && std::isnan(monotone_trend(grid).p));
}

}  // namespace two_way_test
}  // namespace depthgrid
