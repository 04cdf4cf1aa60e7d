#include "sweeps/compare/compare.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace compare_test {

using Names = std::vector<std::string>;

// Expected values: scipy 1.17.1 (st) and statsmodels 0.15.0 of y = kFigures of grid_cells.hpp
// (d_model, lr, seed), by the expressions beside them; m = y.mean(1), l = y.mean(0).
constexpr double kStatistic = 1e-9, kExact = 1e-12, kPower = 1e-6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<double> kPlain = {2.5, 2.45, 2.52, 2.48, 2.5};

ComparisonQuery query_by(const Names& by) {
  ComparisonQuery out;
  out.by = by;
  return out;
}

std::string refusal(const GridCells& cells, const ComparisonQuery& query) {
  try {
    cells.compare(query);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareCells, MainEffectsAreThePairedTOfSeedAverages) {
  const Comparison comparison = two_factor_grid().by({"d_model", "lr"});
  EXPECT_EQ(comparison.metric, "final_loss.valid");
  EXPECT_EQ(comparison.unit, "nat");
  const EffectTable& widths = table_of(comparison, "model.d_model");
  EXPECT_EQ(widths.baseline_name, "16");
  EXPECT_EQ(widths.others, Names{"train.lr"});
  EXPECT_FALSE(row_of(widths, "16").evidence);
  const ContrastEvidence& e = evidence_for(widths, "32");  // st.ttest_1samp(m[1] - m[0], 0)
  EXPECT_EQ(e.contrast.n, 5U) << "seeds, not cells";
  EXPECT_EQ(e.contrast.degrees, 4);
  EXPECT_NEAR(e.contrast.mean, -0.0343, kExact);
  EXPECT_NEAR(e.contrast.sd, 0.0054840678332787295, kExact);
  EXPECT_NEAR(e.contrast.t, -13.985445468567024, kStatistic);
  EXPECT_NEAR(e.contrast.p, 0.00015163047468379882, kExact);
  EXPECT_NEAR(e.contrast.interval.low, -0.04110936959228925, kExact);
  EXPECT_NEAR(e.contrast.interval.high, -0.02749063040771021, kExact);
  EXPECT_EQ(e.pairs.combinations, 2U);
  EXPECT_NEAR(e.sample.mean, 2.3727, kExact);                  // m[1].mean()
  EXPECT_NEAR(e.baseline.mean, 2.407, kExact);                 // m[0].mean()
  EXPECT_NEAR(e.effect.d_z, -6.2544813526664536, kStatistic);  // mean / sd
  EXPECT_NEAR(e.effect.g, -5.003585082133163, kStatistic);     // (1 - 3 / 15) d_z
  EXPECT_EQ(e.flips.p, 0.0625);                                // 2 / 2**5
  EXPECT_EQ(e.improved.share, 1);
  // TTestPower().solve_power(nobs=5, alpha=.05, power=.8) * sd
  EXPECT_NEAR(e.detectable, 0.009224186100321774, kPower);
  EXPECT_NEAR(evidence_for(widths, "64").contrast.p, 2.3404868373160893e-06, kExact);
  const EffectTable& rates = table_of(comparison, "train.lr");
  EXPECT_NEAR(evidence_for(rates, "0.2").contrast.mean, -0.0318, kExact);  // l[1] - l[0]
  EXPECT_NEAR(evidence_for(rates, "0.2").contrast.p, 0.0002769203908869127, kExact);
}

TEST(CompareCells, TheFamilyIsAllMainContrasts) {
  const Comparison both = two_factor_grid().by({"d_model", "lr"});
  EXPECT_EQ(both.family, 3U);
  const EffectTable& widths = table_of(both, "model.d_model");
  // multipletests([p32, p64, plr], method="holm")
  EXPECT_NEAR(evidence_for(widths, "32").holm, 0.00030326094936759763, kExact);
  EXPECT_NEAR(evidence_for(widths, "64").holm, 7.021460511948268e-06, kExact);
  EXPECT_NEAR(evidence_for(table_of(both, "train.lr"), "0.2").holm, 0.00030326094936759763, kExact);
  // .confidence_interval(1 - .05 / 3)
  EXPECT_NEAR(evidence_for(widths, "32").simultaneous.low, -0.04401402567507434, kExact);
  const Comparison one = two_factor_grid().by({"model.d_model"});
  EXPECT_EQ(one.family, 2U) << "three levels";
  const EffectTable& alone = table_of(one, "model.d_model");
  EXPECT_NEAR(evidence_for(alone, "32").holm, 0.00015163047468379882, kExact);
  EXPECT_NEAR(evidence_for(alone, "64").holm, 4.6809736746321785e-06, kExact);
  EXPECT_NEAR(evidence_for(alone, "32").simultaneous.low, -0.042872656749102005, kExact);
}

TEST(CompareCells, EffectsAtSingleLevelsAreExploratory) {
  const Comparison comparison = two_factor_grid().by({"d_model", "lr"});
  EXPECT_EQ(comparison.effects.size(), 2U + 2U + 3U);
  const EffectTable& table = table_of(comparison, "model.d_model", "train.lr = 0.2");
  EXPECT_TRUE(table.exploratory && table.others.empty());
  EXPECT_FALSE(table_of(comparison, "model.d_model").exploratory);
  const ContrastEvidence& e = evidence_for(table, "32");  // st.ttest_1samp(y[1, 1] - y[0, 1], 0)
  EXPECT_NEAR(e.contrast.p, 0.0003728936851835142, kExact);
  EXPECT_EQ(e.holm, e.contrast.p) << "of its own test";
  EXPECT_EQ(e.simultaneous.low, e.contrast.interval.low);
  EXPECT_EQ(e.pairs.combinations, 1U);
  EXPECT_EQ(e.verdict, ContrastVerdict::Differs);
  ASSERT_EQ(comparison.variance.size(), 1U);
  EXPECT_EQ(comparison.variance[0].interactions.size(), 2U);
}

TEST(CompareCells, AnIncompleteCombinationLeavesBothSidesAndIsCounted) {
  GridCells cells = two_factor_grid();
  cells.at("32,0.2", 4).status = CellStatus::Diverged;
  const Comparison comparison = cells.by({"d_model"});
  const EffectTable& table = table_of(comparison, "model.d_model");
  const ContrastEvidence& e = evidence_for(table, "32");
  // d = m[1] - m[0]; d[4] = y[1, 0, 4] - y[0, 0, 4]; st.ttest_1samp(d, 0)
  EXPECT_EQ(e.contrast.n, 5U);
  EXPECT_NEAR(e.contrast.mean, -0.0316, kExact);
  EXPECT_NEAR(e.contrast.p, 0.0015727174184228092, kExact);
  EXPECT_EQ(e.pairs.unpaired, std::vector<std::size_t>{cells.row_of("16,0.2", 4)});
  EXPECT_EQ(row_of(table, "32").group.count(CellStatus::Diverged), 1U);
  EXPECT_EQ(row_of(table, "32").all.n, 4U) << "alone, it has four whole seeds";
  EXPECT_TRUE(evidence_for(table, "64").pairs.unpaired.empty());
  EXPECT_NEAR(evidence_for(table, "64").contrast.p, 2.3404868373160893e-06, kExact);
  EXPECT_NE(comparison.variance.at(0).refused, "");
}

TEST(CompareCells, DivergedAndMissingCellsAreCountedInTheirGroup) {
  GridCells cells = two_factor_grid();
  for (int seed = 0; seed < 5; ++seed) cells.at("64,0.1", seed).status = CellStatus::Diverged;
  for (int seed = 0; seed < 4; ++seed) cells.at("64,0.2", seed).status = CellStatus::Pending;
  const Comparison comparison = cells.by({"d_model"});
  const ComparedRow& row = row_of(table_of(comparison, "model.d_model"), "64");
  EXPECT_EQ(row.group.cells.size(), 10U);
  EXPECT_EQ(row.group.missing(), 9U);
  EXPECT_EQ(row.group.count(CellStatus::Diverged), 5U);
  EXPECT_EQ(row.evidence->contrast.n, 1U);
  EXPECT_TRUE(std::isnan(row.evidence->contrast.p)) << "one seed";
  EXPECT_EQ(comparison.family, 1U) << "what has no p is no member";
}

TEST(CompareCells, AnArmWithoutTheLeafIsARowOfItsOwn) {
  GridCells cells = two_factor_grid();
  cells.arm("plain", kPlain, "none");
  const Comparison comparison = cells.by({"d_model"});
  const EffectTable& table = table_of(comparison, "model.d_model");
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[3].group.name, "none");
  EXPECT_FALSE(table.rows[3].group.level);
  const ContrastEvidence& e = *table.rows[3].evidence;  // st.ttest_1samp(plain - m[0], 0)
  EXPECT_NEAR(e.contrast.mean, 0.083, kExact);
  EXPECT_NEAR(e.contrast.p, 0.00013180312164413777, kExact);
  EXPECT_EQ(comparison.family, 3U);
  cells.baseline("plain");
  const Comparison other = cells.by({"d_model"});
  EXPECT_EQ(table_of(other, "model.d_model").baseline_name, "none");
  EXPECT_NEAR(evidence_for(table_of(other, "model.d_model"), "16").contrast.mean, -0.083, kExact);
}

TEST(CompareCells, EffectsAtSingleLevelsAreThereWhereTheBaselineIsAnArmWithoutTheLeaves) {
  GridCells cells = two_factor_grid();
  cells.arm("plain", kPlain).baseline("plain");
  const Comparison comparison = cells.by({"d_model", "lr"});
  const EffectTable& table = table_of(comparison, "model.d_model", "train.lr = 0.1");
  bool some = false;
  for (const ComparedRow& row : table.rows) some = some || row.evidence;
  EXPECT_TRUE(some);
}

TEST(CompareCells, ALeafThatMovesWithTheFactorIsNamed) {
  GridCells cells;
  for (std::size_t level = 0; level < 3; ++level) {
    for (int seed = 0; seed < 5; ++seed) {
      cells.add({{"model.d_model", 16 << level}, {"model.n_heads", 2 << level}}, seed,
                two_factor_figure({level, 0}, seed));
    }
  }
  const Comparison comparison = cells.by({"d_model"});
  EXPECT_EQ(table_of(comparison, "model.d_model").moving_with, Names{"model.n_heads"});
  EXPECT_EQ(evidence_for(table_of(comparison, "model.d_model"), "32").contrast.n, 5U);
}

/// A baseline of zeros, and arms that differ clearly, hardly and noisily.
GridCells three_differences() {
  return GridCells()
      .arm("base", {0, 0, 0, 0, 0})
      .arm("clear", {.010, .012, .009, .013, .011})
      .arm("none", {.0004, -.0002, .0001, -.0003, .0002})
      .arm("noisy", {.02, -.01, .03, .005, -.004})
      .baseline("base");
}

TEST(CompareCells, VerdictsAreNoEffectThenDiffersThenUndecided) {
  const GridCells cells = three_differences();
  ComparisonQuery query = query_by({"arm"});
  Comparison comparison = cells.compare(query);
  const auto of = [&](const char* arm) { return evidence_for(table_of(comparison, "arm"), arm); };
  // st.ttest_1samp(d, 0).pvalue, then multipletests(method="holm")
  EXPECT_NEAR(of("clear").holm, 0.00029906905761550493, kExact);
  EXPECT_NEAR(of("none").holm, 0.7717151268489592, kStatistic);
  EXPECT_NEAR(of("noisy").holm, 0.6636281067612331, kStatistic);
  EXPECT_EQ(of("clear").verdict, ContrastVerdict::Differs);
  EXPECT_EQ(of("none").verdict, ContrastVerdict::Undecided) << "without a margin";
  EXPECT_TRUE(std::isnan(of("none").equivalence.p));
  query.margin = 0.005;
  comparison = cells.compare(query);  // ttost_paired(d, 0, -.005, .005)
  EXPECT_NEAR(of("clear").equivalence.p, 0.9994712176920847, kStatistic);
  EXPECT_EQ(of("clear").verdict, ContrastVerdict::Differs);
  EXPECT_NEAR(of("none").equivalence.p, 1.359751784097415e-06, kExact);
  EXPECT_EQ(of("none").verdict, ContrastVerdict::NoEffect);
  EXPECT_EQ(of("noisy").verdict, ContrastVerdict::Undecided);
  query.margin = 0.02;  // wider than the clear difference
  comparison = cells.compare(query);
  EXPECT_NEAR(of("clear").equivalence.p, 0.00010975570960299352, kExact);
  EXPECT_LT(of("clear").holm, 0.05);
  EXPECT_EQ(of("clear").verdict, ContrastVerdict::NoEffect) << "too small to matter";
  EXPECT_EQ(of("noisy").verdict, ContrastVerdict::Undecided);
}

TEST(CompareCells, DiffersIsByHolmsPNotByASingleTests) {
  GridCells cells = three_differences();
  for (int seed = 0; seed < 5; ++seed) {  // st.ttest_1samp: p = .0454; times 2: .091
    const double d[5] = {.010, .022, .004, .019, .002};
    cells.at("noisy", seed).metrics["final_loss.valid"] = d[seed];
  }
  const Comparison comparison = cells.compare(query_by({"arm"}));
  const ContrastEvidence& e = evidence_for(table_of(comparison, "arm"), "noisy");
  EXPECT_LT(e.contrast.p, 0.05);
  EXPECT_GT(e.holm, 0.05);
  EXPECT_EQ(e.verdict, ContrastVerdict::Undecided);
}

TEST(CompareCells, LevelsThatAreNumbersHaveATrendInTheirOrder) {
  GridCells cells;  // in the file as 64, 16, 32
  cells.grid({{"model.d_model", {64, 16, 32}}, two_factors()[1]}, 5,
             [](const std::vector<std::size_t>& at, std::int64_t seed) {
               return two_factor_figure({(at[0] + 2) % 3, at[1]}, seed);
             });
  const Comparison comparison = cells.by({"d_model", "lr"});
  const EffectTable& table = table_of(comparison, "model.d_model");
  ASSERT_TRUE(table.trend);
  EXPECT_EQ(table.trend_seeds, 5U);
  // x = [16, 32, 64]; slope of each seed: np.polyfit(x, m, 1)[0]; st.ttest_1samp(slopes, 0)
  EXPECT_NEAR(table.trend->slope.mean, -0.0009450892857142967, kExact);
  EXPECT_NEAR(table.trend->slope.p, 1.5803227202107392e-06, kExact);
  // st.page_trend_test(-m.T, method="exact").pvalue, two-sided
  EXPECT_NEAR(table.trend->p, 2 * 0.00012860082304526747, kExact);
  EXPECT_EQ(table.trend->page_l, 50);
  EXPECT_FALSE(table_of(comparison, "train.lr").trend) << "of two levels";
  GridCells words;
  words.grid({{"train.schedule.kind", {"cosine", "linear", "none"}}}, 5, two_factor_figure);
  EXPECT_FALSE(table_of(words.by({"kind"}), "train.schedule.kind").trend);
}

TEST(CompareCells, ATrendIsOfSeedsThatAllLevelsHave) {
  GridCells cells = two_factor_grid();
  for (const char* arm : {"64,0.1", "64,0.2"}) cells.at(arm, 2).status = CellStatus::Failed;
  EXPECT_EQ(table_of(cells.by({"d_model"}), "model.d_model").trend_seeds, 4U);
  for (int seed = 0; seed < 5; ++seed) {
    for (const char* arm : {"64,0.1", "64,0.2"}) cells.at(arm, seed).status = CellStatus::Failed;
  }
  EXPECT_FALSE(table_of(cells.by({"d_model"}), "model.d_model").trend);
}

TEST(CompareCells, WithinALeafEachOfItsLevelsIsComparedAndAllAreTheFamily) {
  ComparisonQuery query = query_by({"d_model"});
  query.within = "lr";
  const Comparison comparison = two_factor_grid().compare(query);
  ASSERT_EQ(comparison.effects.size(), 2U);
  EXPECT_EQ(comparison.effects[0].within, "train.lr = 0.1");
  EXPECT_FALSE(comparison.effects[0].exploratory);
  EXPECT_EQ(comparison.family, 4U);
  EXPECT_TRUE(comparison.variance.empty());
  // st.ttest_1samp(y[1, k] - y[0, k], 0) and y[2, k]; multipletests(all four, method="holm")
  const double p[4] = {0.000993333691592258, 0.001035366870723279, 0.0003728936851835142,
                       2.2529588031046152e-05};
  const double holm[4] = {2 * p[0], 2 * p[0], 3 * p[2], 4 * p[3]};  // p[1] < 2 p[0]
  std::size_t i = 0;
  for (const EffectTable& table : comparison.effects) {
    for (const char* level : {"32", "64"}) {
      EXPECT_NEAR(evidence_for(table, level).contrast.p, p[i], kExact) << table.within;
      EXPECT_NEAR(evidence_for(table, level).holm, holm[i], kExact) << table.within;
      ++i;
    }
  }
}

TEST(CompareCells, ABaselineThatALevelLacksIsNotReplacedThere) {
  GridCells cells = two_factor_grid();
  ComparisonQuery query = query_by({"d_model"});
  query.within = "lr";
  query.baseline = "64";
  std::vector<std::size_t> rows = cells.rows();
  std::erase_if(rows, [&](std::size_t row) { return cells.listing.cells[row].arm == "64,0.2"; });
  const Comparison comparison = compare_cells(cells.listing, rows, query);
  EXPECT_EQ(comparison.family, 2U) << "at the other level";
  const EffectTable& table = table_of(comparison, "model.d_model", "train.lr = 0.2");
  EXPECT_EQ(table.baseline_name, "64");
  EXPECT_FALSE(table.baseline_selected);
}

TEST(CompareCells, WithinIsNoFactorOfTheComparison) {
  ComparisonQuery query = query_by({"d_model"});
  query.within = "d_model";
  EXPECT_TRUE(has(refusal(two_factor_grid(), query), "model.d_model"));
}

TEST(CompareCells, WithinIsALeaf) {
  ComparisonQuery query = query_by({"d_model"});
  query.within = "arm";
  EXPECT_NE(refusal(two_factor_grid(), query), "");
}

TEST(CompareCells, ABaselineIsTakenByName) {
  ComparisonQuery query = query_by({"d_model", "lr"});
  query.baseline = "64";
  const Comparison comparison = two_factor_grid().compare(query);
  const EffectTable& widths = table_of(comparison, "model.d_model");
  EXPECT_NEAR(evidence_for(widths, "16").contrast.mean, 0.0492, kExact);
  EXPECT_EQ(table_of(comparison, "train.lr").baseline_name, "0.1") << "it is of the first factor";
  EXPECT_EQ(comparison.variance.at(0).interactions.at(0).a, "16");
  query.baseline = "48";
  EXPECT_TRUE(has(refusal(two_factor_grid(), query), "64"));
}

TEST(CompareCells, WhatIsNotThereIsNamedWithCandidates) {
  EXPECT_TRUE(has(refusal(two_factor_grid(), query_by({"d_modle"})), "model.d_model"));
  GridCells ambiguous = two_factor_grid();
  ambiguous.add({{"train.control.lr", 1.0}}, 0, 2);
  const std::string several = refusal(ambiguous, query_by({"lr"}));
  EXPECT_TRUE(has(several, "train.lr") && has(several, "train.control.lr")) << several;
  EXPECT_TRUE(has(refusal(two_factor_grid(), query_by({"store"})), "'store'")) << "of one store";
  ComparisonQuery query = query_by({"d_model"});
  query.metric = "final_los.valid";
  EXPECT_TRUE(has(refusal(two_factor_grid(), query), "final_loss.valid"));
  query = query_by({"d_model"});
  query.allowed = {"evaluation"};
  const std::string word = refusal(two_factor_grid(), query);
  EXPECT_TRUE(has(word, "evaluation") && has(word, "clip")) << word;
  EXPECT_EQ(two_factor_grid().by({"lr", "train.lr"}).effects.size(), 1U) << "once";
}

TEST(CompareCells, ArmsAreTheDefault) {
  GridCells cells = two_factor_grid();
  cells.baseline("16,0.1");
  const Comparison comparison = cells.compare({});
  EXPECT_EQ(comparison.effects.at(0).factor, "arm");
  EXPECT_EQ(comparison.family, 5U);
  // st.ttest_1samp(y[1, 1] - y[0, 1], 0), against the named arm
  ComparisonQuery query;
  query.baseline = "16,0.2";
  const Comparison other = cells.compare(query);
  EXPECT_NEAR(evidence_for(table_of(other, "arm"), "32,0.2").contrast.p, 0.0003728936851835142,
              kExact);
}

TEST(CompareCells, OfAMetricThatIsMaximizedMoreIsAnImprovement) {
  GridCells cells = two_factor_grid();
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics["final_accuracy.valid"] = 3 - cell.metrics.at("final_loss.valid");
  }
  ComparisonQuery query = query_by({"d_model"});
  query.metric = "final_accuracy.valid";
  Comparison comparison = cells.compare(query);
  EXPECT_EQ(comparison.goal, "maximize");
  const ContrastEvidence& e = evidence_for(table_of(comparison, "model.d_model"), "32");
  EXPECT_NEAR(e.contrast.mean, 0.0343, kExact);
  EXPECT_NEAR(e.contrast.p, 0.00015163047468379882, kStatistic);
  EXPECT_EQ(e.improved.share, 1);
  query.goal = "minimize";
  comparison = cells.compare(query);
  EXPECT_EQ(evidence_for(table_of(comparison, "model.d_model"), "32").improved.share, 0);
  EXPECT_EQ(goal_of(cells.listing, "final_loss.valid"), "minimize") << "as the sweep says";
  EXPECT_EQ(goal_of(cells.listing, "final_auc.valid"), "maximize");
  EXPECT_EQ(goal_of(cells.listing, "cost_wall_time"), "minimize");
  EXPECT_EQ(goal_of(cells.listing, "cost_tokens_per_second"), "maximize");
}

TEST(CompareCells, OfTwoStoresTheLeafInWhichTheyDifferIsAFactor) {
  std::vector<Listing> stores;
  for (std::size_t rate = 0; rate < 2; ++rate) {
    GridCells cells({{"train.lr", rate == 0 ? 0.1 : 0.2}}, rate == 0 ? "results/a" : "results/b");
    cells.grid({two_factors()[0]}, 5, [&](const std::vector<std::size_t>& at, std::int64_t seed) {
      return two_factor_figure({at[0], rate}, seed);
    });
    stores.push_back(std::move(cells.listing));
  }
  GridCells both;
  both.listing = listing_union({stores[0], stores[1], stores[0]});  // one of them twice
  const Comparison comparison = both.by({"lr", "d_model"});
  const ComparedRow& row = row_of(table_of(comparison, "train.lr"), "0.2");
  EXPECT_EQ(row.group.cells.size(), 15U);
  EXPECT_NEAR(row.evidence->contrast.p, 0.0002769203908869127, kExact);
  EXPECT_NEAR(comparison.variance.at(0).effects.interaction.p, 0.0026523861308017805, kStatistic);
  ComparisonQuery query = query_by({"store"});
  query.baseline = "results/a";
  const Comparison of_stores = both.compare(query);
  EXPECT_NEAR(evidence_for(table_of(of_stores, "store"), "results/b").contrast.mean, -0.0318,
              kExact)
      << "paired by seed and width";
}

TEST(CompareCells, WithoutACommonSeedThereIsNoP) {
  GridCells cells;
  cells.arm("base", {2.1, 2.2, 2.12, 2.15}).baseline("base");
  const double other[3] = {2.3, 2.4, 2.35};
  for (int s = 0; s < 3; ++s) cells.add({}, 10 + s, other[s], "big");
  const Comparison comparison = cells.compare({});
  const ContrastEvidence& e = evidence_for(table_of(comparison, "arm"), "big");
  ASSERT_TRUE(e.unpaired);  // st.ttest_ind(other, base, equal_var=False).confidence_interval()
  EXPECT_NEAR(e.unpaired->low, 0.10759724420011407, kStatistic);
  EXPECT_NEAR(e.unpaired->high, 0.3074027557998851, kStatistic);
  EXPECT_NEAR(e.unpaired->degrees, 4.04552205783987, kStatistic);
  EXPECT_TRUE(std::isnan(e.p()) && std::isnan(e.holm) && std::isnan(e.flips.p));
  EXPECT_EQ(comparison.family, 0U);
}

TEST(CompareCells, WithoutACommonCombinationThereIsNoDifference) {
  GridCells cells;
  for (int seed = 0; seed < 4; ++seed) {
    cells.add({{"model.d_model", 16}, {"train.lr", 0.1}}, seed, 2.1 + 0.01 * seed);
    cells.add({{"model.d_model", 32}, {"train.lr", 0.2}}, seed, 2.3 + 0.02 * seed);
    cells.add({{"model.d_model", 16}, {"train.lr", 0.3}}, seed, 2.2 + 0.02 * seed);
  }
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = evidence_for(table_of(comparison, "model.d_model"), "32");
  EXPECT_EQ(e.pairs.unpaired.size(), 12U);
  EXPECT_TRUE(std::isnan(e.p()));
  EXPECT_FALSE(e.unpaired);
}

TEST(CompareCells, ArmsOfUnequalSizeAreRefusedOnlyIfSizesAreToBeEqual) {
  GridCells cells;
  cells.arm("base", {2, 2.1, 2.2}).arm("big", {1.9, 2.1, 2.0}).arm("near", {2, 2.2, 2.1});
  cells.baseline("base");
  for (CellSummary& cell : cells.listing.cells) {
    cell.parameters = cell.arm == "base" ? 1000 : cell.arm == "near" ? 1009 : 1011;
  }
  ComparisonQuery query;
  EXPECT_FALSE(evidence_for(table_of(cells.compare(query), "arm"), "big").pairs.refused);
  query.parameter_tolerance = 0.01;
  const Comparison comparison = cells.compare(query);
  EXPECT_TRUE(has(evidence_for(table_of(comparison, "arm"), "big").pairs.refused.text(), "1011"));
  EXPECT_FALSE(evidence_for(table_of(comparison, "arm"), "near").pairs.refused);
}

/// Steps to a target of two widths and two rates; some cells never reach it.
struct StepsToTarget {
  GridCells cells;
  ComparisonQuery query = query_by({"d_model"});

  StepsToTarget() {
    cells.listing.metric = "steps_to_target.eval_loss.valid";
    cells.grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}}, 6,
               [](const std::vector<std::size_t>& at, std::int64_t seed) {
                 return 100.0 + static_cast<double>(40 * at[0] + at[1]) +
                        static_cast<double>(seed % 3);
               });
    query.derived = DerivedMetric{cells.listing.metric, "eval_loss.valid", "", {}};
    for (const std::size_t row : cells.rows()) reach(row, {true, cells.figure(row)});
  }
  void reach(std::size_t row, Reached reached) {
    query.derived->reached[row] = reached;
    cells.listing.cells[row].metrics[cells.listing.metric] =
        reached.reached ? reached.at : kInfinity;
  }
  Comparison compare() const { return cells.compare(query); }
};

TEST(CompareCells, WhereATargetWasNotReachedThePIsThatOfTheSigns) {
  StepsToTarget steps;
  EXPECT_FALSE(evidence_for(steps.compare().effects[0], "32").censored);
  steps.reach(steps.cells.row_of("32,0.2", 1), {false, 500});
  const Comparison comparison = steps.compare();
  const ContrastEvidence& e = evidence_for(comparison.effects[0], "32");
  ASSERT_TRUE(e.censored);
  EXPECT_EQ(e.censored->reached_a, 5U);
  EXPECT_EQ(e.p(), 2.0 / 64);  // six of six are later
  EXPECT_EQ(e.holm, 2.0 / 64);
  EXPECT_EQ(e.verdict, ContrastVerdict::Differs);
}

TEST(CompareCells, ACombinationThatLeftThePairCensorsNothing) {
  StepsToTarget steps;
  steps.reach(steps.cells.row_of("32,0.2", 1), {false, 500});
  steps.cells.at("16,0.2", 1).status = CellStatus::Failed;
  const Comparison comparison = steps.compare();
  EXPECT_FALSE(evidence_for(comparison.effects[0], "32").censored);
}

}  // namespace compare_test
}  // namespace depthgrid
