#include "sweeps/compare/variance.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/report/filter.hpp"
#include "sweeps/report/listing_union.hpp"
#include "sweeps/report/results_query.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace variance_test {

using Names = std::vector<std::string>;
using Rows = std::vector<std::size_t>;

constexpr double kShare = 1e-9, kTest = 1e-7;

VarianceTable shares(const GridCells& cells, const std::array<std::string, 2>& factors,
                     const std::array<std::string, 2>& baselines = {},
                     const Rows* chosen = nullptr) {
  return variance_table(
      cells.listing, chosen == nullptr ? cells.rows() : *chosen, factors, baselines,
      [&](std::size_t row) { return cells.figure(row); },
      [](std::size_t, std::size_t) { return BasisMismatch(); });
}

const std::array<std::string, 2> kBoth = {"model.d_model", "train.lr"};

/// The text between the quotes of --filter "…".
std::string offered_filter(const std::string& refused) {
  const std::string begin = "--filter \"";
  const std::size_t from = refused.find(begin);
  if (from == refused.npos) return {};
  const std::size_t to = refused.find('"', from + begin.size());
  return refused.substr(from + begin.size(), to - from - begin.size());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(VarianceShares, OfTwoFactorsAreThoseOfTheAnalysisOfVarianceWithinSeeds) {
  const VarianceTable table = shares(two_factor_grid(), kBoth);
  ASSERT_EQ(table.refused, "");
  EXPECT_EQ(table.levels_a, (Names{"16", "32", "64"}));
  EXPECT_EQ(table.levels_b, (Names{"0.1", "0.2"}));
  EXPECT_EQ(table.seeds.size(), 5U);
  // y = kFigures of grid_cells.hpp (a, b, s), statsmodels: AnovaRM(df, "y", "s", ["a", "b"]).fit()
  EXPECT_NEAR(table.effects.a.f, 350.7015610651931, kTest * 350);
  EXPECT_NEAR(table.effects.a.p, 1.6172887514991068e-08, 1e-15);
  EXPECT_EQ(table.effects.a.degrees, 2);
  EXPECT_EQ(table.effects.a.error_degrees, 8);
  EXPECT_NEAR(table.effects.b.f, 143.8691116029094, kTest * 150);
  EXPECT_NEAR(table.effects.b.p, 0.00027692039088693816, kShare);
  EXPECT_NEAR(table.effects.interaction.f, 13.625879805089252, kTest);
  EXPECT_NEAR(table.effects.interaction.p, 0.0026523861308017805, kShare);
  // SS_a / SS = 10 * ((y.mean((1, 2)) - y.mean())**2).sum() / ((y - y.mean())**2).sum(), …
  EXPECT_NEAR(table.effects.a.eta2, 0.46927117571527677, kShare);
  EXPECT_NEAR(table.effects.b.eta2, 0.2795728916439876, kShare);
  EXPECT_NEAR(table.effects.interaction.eta2, 0.061847157628292515, kShare);
  // (SS_a - 2 * MS_as) / (SS + MS_s), …
  EXPECT_NEAR(table.effects.a.omega2, 0.4501490843649056, kShare);
  EXPECT_NEAR(table.effects.b.omega2, 0.2670782124060663, kShare);
  EXPECT_NEAR(table.effects.interaction.omega2, 0.05513018655492194, kShare);
  EXPECT_NEAR(table.effects.a.partial_eta2, 0.9887229140238689, kShare);
}

TEST(VarianceShares, InteractionsAreDoubleDifferencesFromBothBaselines) {
  const VarianceTable table = shares(two_factor_grid(), kBoth);
  ASSERT_EQ(table.interactions.size(), 2U);
  EXPECT_EQ(table.interactions[0].a, "32");
  EXPECT_EQ(table.interactions[0].b, "0.2");
  // st.ttest_1samp((y[1, 1] - y[0, 1]) - (y[1, 0] - y[0, 0]), 0); then y[2] for y[1]
  EXPECT_NEAR(table.interactions[0].contrast.mean, -0.0218, 1e-12);
  EXPECT_NEAR(table.interactions[0].contrast.t, -4.474207652716679, kTest);
  EXPECT_NEAR(table.interactions[0].contrast.p, 0.011038890238982108, kShare);
  EXPECT_NEAR(table.interactions[1].contrast.p, 0.0041283499381658045, kShare);
  const VarianceTable other = shares(two_factor_grid(), kBoth, {"64", "0.2"});
  ASSERT_EQ(other.interactions.size(), 2U);
  EXPECT_EQ(other.interactions[0].a, "16");
  EXPECT_EQ(other.interactions[0].b, "0.1");
  // (y[0, 0] - y[2, 0]) - (y[0, 1] - y[2, 1])
  EXPECT_NEAR(other.interactions[0].contrast.mean, -0.0364, 1e-12);
}

TEST(VarianceShares, OfTwoByTwoLevelsTheSquareOfTIsF) {
  const GridCells cells = GridCells().grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}},
                                           5, two_factor_figure);
  const VarianceTable table = shares(cells, kBoth);
  ASSERT_EQ(table.interactions.size(), 1U);
  const PairedContrast& one = table.interactions[0].contrast;
  EXPECT_NEAR(one.t * one.t, table.effects.interaction.f, 1e-9);
  EXPECT_NEAR(one.p, table.effects.interaction.p, 1e-12);
  EXPECT_NEAR(table.effects.interaction.f, 20.018534119628033, kTest);  // AnovaRM of y[:2]
  EXPECT_NEAR(table.effects.a.p, 0.00015163047468379952, kShare);       // that of the paired t, too
}

TEST(VarianceShares, OfOneFactorAreOfMeansOverTheOther) {
  const VarianceTable table = shares(two_factor_grid(), {"model.d_model", ""});
  EXPECT_EQ(table.refused, "");
  EXPECT_TRUE(table.interactions.empty() && table.levels_b.empty());
  // AnovaRM(df of y.mean(1), "y", "s", ["a"]).fit()
  EXPECT_NEAR(table.effects.a.f, 350.7015610651865, kTest * 350);
  EXPECT_NEAR(table.effects.a.eta2, 0.7417534182722083, kShare);
  EXPECT_TRUE(std::isnan(table.effects.b.f) && std::isnan(table.effects.interaction.eta2));
}

TEST(VarianceShares, AThirdFactorIsAveragedOver) {
  GridCells cells;
  const std::vector<GridFactor> factors = {
      two_factors()[0], two_factors()[1], {"train.beta1", {0.8, 0.9, 0.95}}};
  const double shift[3] = {-0.3, 0.1, 0.2};  // cancels in the mean
  cells.grid(factors, 5, [&](const std::vector<std::size_t>& at, std::int64_t seed) {
    return two_factor_figure(at, seed) + shift[at[2]];
  });
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_EQ(table.refused, "");
  EXPECT_NEAR(table.effects.interaction.f, 13.625879805089252, 1e-6);
  EXPECT_NEAR(table.effects.a.eta2, 0.46927117571527677, kShare);
}

TEST(VarianceShares, ArmsWithoutTheLeafTakeNoPart) {
  GridCells cells = two_factor_grid();
  cells.arm("plain", {2.5, 2.45, 2.52, 2.48, 2.5});
  EXPECT_EQ(shares(cells, kBoth).refused, "");
  EXPECT_NEAR(shares(cells, kBoth).effects.a.eta2, 0.46927117571527677, kShare);
  const VarianceTable arms = shares(cells, {"arm", ""});
  EXPECT_EQ(arms.levels_a.size(), 7U) << "of arms, it is one";
}

TEST(VarianceShares, AreRefusedWhereACellIsMissingAndTheLargestWholePartIsOffered) {
  GridCells cells = two_factor_grid();
  cells.at("32,0.2", 3).status = CellStatus::Diverged;
  cells.at("32,0.1", 4).status = CellStatus::Pending;
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_TRUE(has(table.refused, "2 of 30")) << table.refused;
  EXPECT_TRUE(has(table.refused, "model.d_model = 32, train.lr = 0.1, seed 4")) << table.refused;
  EXPECT_TRUE(has(table.refused, "model.d_model = 32, train.lr = 0.2, seed 3")) << table.refused;
  EXPECT_TRUE(std::isnan(table.effects.a.eta2) && table.interactions.empty());
  // Without level 32: 2 · 2 · 5 = 20 cells; without seeds 3 and 4: 3 · 2 · 3 = 18.
  const std::string filter = offered_filter(table.refused);
  const Rows chosen = select_cells(cells.listing, {"", filter});
  Rows expected;
  for (const std::size_t row : cells.rows()) {
    if (!cells.listing.cells[row].arm.starts_with("32")) expected.push_back(row);
  }
  EXPECT_EQ(chosen, expected) << filter;
  EXPECT_EQ(shares(cells, kBoth, {}, &chosen).refused, "");
}

TEST(VarianceShares, TheOfferMayBeOfSeedsAndMoreThanThreeCellsAreCounted) {
  GridCells cells = two_factor_grid();
  for (const char* arm : {"16,0.1", "16,0.2", "32,0.1", "64,0.2"}) {
    cells.at(arm, 1).status = CellStatus::Cancelled;
  }
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_TRUE(has(table.refused, "4 of 30") && has(table.refused, "1 more")) << table.refused;
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen.size(), 24U) << "all but seed 1";
  for (const std::size_t row : chosen) EXPECT_NE(cells.listing.cells[row].seed, 1);
  EXPECT_EQ(shares(cells, kBoth, {}, &chosen).refused, "");
}

TEST(VarianceShares, ACellWithoutOneOfItsCombinationsIsIncomplete) {
  GridCells cells = two_factor_grid();
  cells.at("32,0.2", 3).metrics.clear();
  const VarianceTable table = shares(cells, {"model.d_model", ""});
  EXPECT_TRUE(has(table.refused, "1 of 15")) << table.refused;
  EXPECT_TRUE(has(table.refused, "model.d_model = 32, seed 3")) << table.refused;
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen.size(), 24U) << "four seeds of three levels are more than five of two";
  EXPECT_EQ(shares(cells, {"model.d_model", ""}, {}, &chosen).refused, "");
}

TEST(VarianceShares, TheOfferMayDropLevelsOfAThirdFactor) {
  GridCells cells;  // the second rate at one scale only, as by `when:`
  for (const int width : {16, 32}) {
    for (const auto& [scale, lr] :
         {std::pair(0.5, 0.1), std::pair(0.5, 0.2), std::pair(1.0, 0.1)}) {
      for (int seed = 0; seed < 3; ++seed) {
        cells.add({{"model.d_model", width}, {"model.scale", scale}, {"train.lr", lr}}, seed,
                  2 + lr * width + 0.1 * seed * (seed + width));
      }
    }
  }
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_EQ(offered_filter(table.refused), "model.scale = 0.5") << table.refused;
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen.size(), 12U);
  EXPECT_EQ(shares(cells, kBoth, {}, &chosen).refused, "");
}

TEST(VarianceShares, OfAThirdFactorTheMostCellsAreKept) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}, {"model.scale", {1, 2, 3}}}, 3,
             [](const std::vector<std::size_t>& at, std::int64_t seed) {
               return 2.0 + static_cast<double>(at[0]) + static_cast<double>(at[1] + at[2]) +
                      0.1 * static_cast<double>(seed);
             });
  for (int seed = 0; seed < 3; ++seed) cells.at("32,0.2,2", seed).status = CellStatus::Diverged;
  const VarianceTable table = shares(cells, kBoth);
  // 2 · 2 · 3 seeds at two of the three scales
  EXPECT_EQ(offered_filter(table.refused), "(model.scale = 1 or model.scale = 3)") << table.refused;
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen.size(), 24U);
  EXPECT_EQ(shares(cells, kBoth, {}, &chosen).refused, "");
}

TEST(VarianceShares, WithoutAWholePartNothingIsOffered) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}}, 3, two_factor_figure);
  cells.at("16", 0).status = cells.at("32", 1).status = CellStatus::Diverged;
  const std::string refused = shares(cells, {"model.d_model", ""}).refused;
  EXPECT_TRUE(has(refused, "2 of 6")) << refused;
  EXPECT_EQ(offered_filter(refused), "");
}

TEST(VarianceShares, NeedTwoLevelsAndTwoSeeds) {
  GridCells cells;
  cells.grid({{"model.d_model", {16}}, {"train.lr", {0.1, 0.2}}}, 3, two_factor_figure);
  EXPECT_TRUE(has(shares(cells, kBoth).refused, "model.d_model"));
  EXPECT_TRUE(has(shares(cells, {"train.lr", "model.d_model"}).refused, "model.d_model"));
  GridCells one;
  one.grid(two_factors(), 1, two_factor_figure);
  EXPECT_NE(shares(one, kBoth).refused, "");
  EXPECT_TRUE(std::isnan(shares(one, kBoth).effects.a.p));
}

TEST(VarianceShares, ALevelOfWordsIsQuotedWhereAFilterNeedsIt) {
  GridCells cells;
  cells.grid({{"data.corpus", {"my text (1).txt", "self", "not"}}}, 3, two_factor_figure);
  cells.at("self", 0).status = CellStatus::Failed;
  cells.at("self", 1).status = CellStatus::Failed;
  const VarianceTable table = shares(cells, {"data.corpus", ""});
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen, (Rows{0, 1, 2, 6, 7, 8})) << table.refused;
}

TEST(VarianceShares, TheOfferIsAFilterForLevelsThatAreLists) {
  GridCells cells;
  const Value one(ValueList{Value("norm"), Value("bias")}), other(ValueList{Value("bias")});
  cells.grid({{"train.no_decay", {one, other, Value("none")}}}, 3, two_factor_figure);
  cells.at("none", 0).status = cells.at("none", 1).status = CellStatus::Failed;
  const VarianceTable table = shares(cells, {"train.no_decay", ""});
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen, (Rows{0, 1, 2, 3, 4, 5})) << table.refused;
}

TEST(VarianceShares, TheOfferIsAFilterForArmsWithoutATag) {
  GridCells cells;
  cells.arm("a", {1, 2, 3}, "tagged").arm("b", {2, 2, 5}).arm("c", {3, kNaN, kNaN});
  const VarianceTable table = shares(cells, {"tag", ""});
  const Rows chosen = select_cells(cells.listing, {"", offered_filter(table.refused)});
  EXPECT_EQ(chosen, (Rows{0, 1, 2, 3, 4, 5})) << table.refused;
}

TEST(VarianceShares, TheOfferIsAFilterForStores) {
  std::vector<Listing> stores;
  for (const double lr : {0.1, 0.2, 0.3}) {
    GridCells cells({{"train.lr", lr}}, "results/" + plain_text(Value(lr)));
    cells.arm("base", {1, lr == 0.3 ? kNaN : 2, lr == 0.3 ? kNaN : 4});
    stores.push_back(std::move(cells.listing));
  }
  GridCells all;
  all.listing = listing_union(std::move(stores));
  const VarianceTable table = shares(all, {"store", ""});
  const std::string filter = offered_filter(table.refused);
  if (filter.empty()) return;  // better than one that cannot be used
  ASSERT_NO_THROW(parse_filter(filter, query_names(all.listing))) << filter;
  EXPECT_EQ(select_cells(all.listing, {"", filter}), (Rows{0, 1, 2, 3, 4, 5}));
}

TEST(VarianceShares, OfAZippedFactorAreTheSameInEitherOrder) {
  GridCells cells;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      for (int seed = 0; seed < 5; ++seed) {
        cells.add({{"model.d_model", static_cast<int>(a)},
                   {"train.lr", static_cast<int>(b)},
                   {"train.beta1", static_cast<int>(b) + 10}},
                  seed, two_factor_figure({a, b}, seed));
      }
    }
  }
  EXPECT_NEAR(shares(cells, {"train.lr", "model.d_model"}).effects.b.eta2, 0.46927117571527677,
              kShare);
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_EQ(table.refused, "");
  EXPECT_NEAR(table.effects.a.eta2, 0.46927117571527677, kShare);
}

TEST(VarianceShares, AreRefusedForCellsThatCannotBeCompared) {
  const GridCells cells = two_factor_grid();
  const VarianceTable table = variance_table(
      cells.listing, cells.rows(), kBoth, {}, [&](std::size_t row) { return cells.figure(row); },
      [](std::size_t mine, std::size_t theirs) {
        BasisMismatch out;
        if (mine == 25 && theirs == 0) {
          out = {{{"what", Value("this"), Value("that")}}, "an advice"};
        }
        return out;
      });
  EXPECT_TRUE(has(table.refused, "what is this, elsewhere that")) << table.refused;
  EXPECT_TRUE(has(table.refused, "an advice")) << table.refused;
}

TEST(VarianceShares, OfInfiniteFiguresThereAreNone) {
  GridCells cells = two_factor_grid();
  cells.listing.cells[3].metrics["final_loss.valid"] = std::numeric_limits<double>::infinity();
  const VarianceTable table = shares(cells, kBoth);
  EXPECT_TRUE(std::isnan(table.effects.a.eta2) && std::isnan(table.effects.interaction.p));
  for (const InteractionContrast& one : table.interactions) EXPECT_TRUE(std::isnan(one.contrast.p));
}

TEST(VarianceShares, BlocksAreMeansOverCombinationsThatAllGroupsHave) {
  GridCells cells = two_factor_grid();
  cells.at("64,0.2", 0).status = CellStatus::Diverged;
  for (const char* arm : {"32,0.1", "32,0.2"}) cells.at(arm, 4).status = CellStatus::Diverged;
  const Design design = design_of(cells.listing, cells.rows(), "model.d_model");
  std::vector<GroupFigures> figures;
  for (const ComparedGroup& group : design.groups) {
    figures.push_back(group_figures(cells.listing, design, group,
                                    [&](std::size_t row) { return cells.figure(row); }));
  }
  const CompleteBlocks blocks = complete_blocks(figures, 3, 1);
  EXPECT_EQ(blocks.seeds, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(blocks.values.cells.size(), 12U);
  EXPECT_NEAR(blocks.values.cells[blocks.values.index(0, 0, 0)], 2.412, 1e-12) << "lr 0.1 alone";
  EXPECT_NEAR(blocks.values.cells[blocks.values.index(2, 0, 0)], 2.381, 1e-12);
  EXPECT_NEAR(blocks.values.cells[blocks.values.index(1, 0, 1)], (2.371 + 2.349) / 2, 1e-12);
  EXPECT_TRUE(complete_blocks({}, 0, 0).seeds.empty());
}

}  // namespace variance_test
}  // namespace depthgrid
