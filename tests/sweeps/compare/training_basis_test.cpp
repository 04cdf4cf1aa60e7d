#include "sweeps/compare/training_basis.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/compare/arms.hpp"
#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace training_basis_test {

using Words = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two arms of three seeds; the second has these leaves, where the first has the others.
GridCells two_arms(const ValueMap& base = {}, const ValueMap& big = {}) {
  GridCells cells;
  cells.arm("base", {2.0, 2.1, 2.3}).arm("big", {1.9, 2.2, 2.1}).baseline("base");
  for (int seed = 0; seed < 3; ++seed) {
    cells.leaves_at("base", seed) = base;
    cells.leaves_at("big", seed) = big;
    for (const char* arm : {"base", "big"}) cells.at(arm, seed).code = "0.9";
  }
  return cells;
}

BasisMismatch found(const GridCells& cells, const Words& allowing = {}) {
  return training_mismatch(cells.listing, 3, 0, allowing);
}

/// What is said of the arm "big".
BasisMismatch refused(const GridCells& cells, const Words& allowed = {}) {
  ComparisonQuery query;
  query.allowed = allowed;
  const Comparison comparison = cells.compare(query);
  return evidence_for(table_of(comparison, "arm"), "big").pairs.refused;
}

TEST(TrainingBasis, OfEqualTrainingsNothingIsSaid) {
  const ValueMap leaves = {{"data.seq_len", 64}, {"train.clip", 1.0}};
  EXPECT_FALSE(found(two_arms(leaves, leaves)));
  EXPECT_FALSE(found(two_arms()));
  const GridCells other = two_arms({}, leaves);  // the base does not read them, or is older
  EXPECT_FALSE(found(other));
  const GridCells clip = two_arms({{"train.clip", 1.0}}, {{"train.clip", 2.0}});
  EXPECT_FALSE(training_mismatch(clip.listing, 3, 3, Words()));
}

TEST(TrainingBasis, TheOrderOfWindowsIsThatOfFourLeaves) {
  for (const char* leaf : {"data.sampler", "data.first_step", "data.seq_len", "train.batch_size"}) {
    const GridCells cells = two_arms({{leaf, 8}}, {{leaf, 16}});
    const BasisMismatch out = found(cells);
    EXPECT_EQ(out.text(), std::string(leaf) + " is 16, in the baseline 8");
    EXPECT_TRUE(has(out.advice, "--allow order")) << out.advice;
    EXPECT_FALSE(found(cells, {"order"})) << leaf;
    EXPECT_FALSE(found(cells, {leaf})) << "the comparison is about it";
    EXPECT_TRUE(found(cells, {"clip", "code", "audit"})) << leaf;
  }
}

TEST(TrainingBasis, HowLongACellTrainsDoesNotChangeTheOrder) {
  GridCells cells = two_arms({{"train.steps", 100}}, {{"train.steps", 200}});
  EXPECT_FALSE(found(cells));
}

TEST(TrainingBasis, OtherTokensOfTheTrainingTextAreAnotherOrder) {
  GridCells cells = two_arms();
  cells.at("base", 0).facts["split_digest.train"] = 0xabcdef;
  EXPECT_FALSE(found(cells)) << "not known of the other";
  cells.at("big", 0).facts["split_digest.train"] = 0xabcdff;
  const BasisMismatch out = found(cells);
  EXPECT_TRUE(has(out.text(), "000000abcdff") && has(out.text(), "000000abcdef")) << out.text();
  EXPECT_TRUE(has(out.advice, "--allow order"));
  EXPECT_FALSE(found(cells, {"order"}));
  EXPECT_FALSE(found(cells, {"data.train_tokens"})) << "a leaf of the text";
  EXPECT_TRUE(found(cells, {"train.lr"}));
}

TEST(TrainingBasis, AnotherClipIsSaid) {
  const GridCells cells = two_arms({{"train.clip", 1.0}}, {{"train.clip", "none"}});
  EXPECT_EQ(found(cells).text(), "train.clip is none, in the baseline 1");
  EXPECT_TRUE(has(found(cells).advice, "--allow clip"));
  EXPECT_FALSE(found(cells, {"clip"}) || found(cells, {"train.clip"}));
  EXPECT_TRUE(found(cells, {"order"}));
}

TEST(TrainingBasis, AnotherProgramIsSaidWhereBothAreKnown) {
  GridCells cells = two_arms();
  cells.at("big", 0).code = "0.8";
  EXPECT_TRUE(has(found(cells).text(), "0.8, in the baseline 0.9")) << found(cells).text();
  EXPECT_TRUE(has(found(cells).advice, "--allow code"));
  EXPECT_FALSE(found(cells, {"code"}));
  cells.at("big", 0).code.clear();
  EXPECT_FALSE(found(cells));
}

TEST(TrainingBasis, AnAuditThatFailedOrWasOffIsSaid) {
  GridCells cells = two_arms();
  cells.at("big", 0).audit = "causality: fail";
  EXPECT_TRUE(has(found(cells).text(), "causality: fail")) << found(cells).text();
  EXPECT_TRUE(has(found(cells).advice, "--allow audit"));
  EXPECT_FALSE(found(cells, {"audit"}));
  cells.at("base", 0).audit = "causality: fail";
  EXPECT_FALSE(found(cells)) << "the same in both";
  cells.at("base", 0).audit.clear();
  cells.at("base", 0).code.clear();
  EXPECT_FALSE(found(cells)) << "nothing is recorded of the audit of results without a version";
}

TEST(TrainingBasis, AllThatDiffersIsSaidAndWhatWouldAllowIt) {
  GridCells cells = two_arms({{"data.seq_len", 8}, {"train.clip", 1.0}},
                             {{"data.seq_len", 16}, {"train.clip", 2.0}});
  cells.at("big", 0).code = "0.8";
  EXPECT_EQ(found(cells).differences.size(), 3U);
  EXPECT_TRUE(has(found(cells).advice, "--allow order,clip,code ")) << found(cells).advice;
  EXPECT_EQ(found(cells, {"clip"}).differences.size(), 2U);
  EXPECT_TRUE(has(found(cells, {"clip"}).advice, "--allow order,code "));
  EXPECT_FALSE(found(cells, {"order", "clip", "code"}));
}

TEST(TrainingBasis, OnlyFourWordsCanBeAllowed) {
  EXPECT_NO_THROW(check_allowed_words(Words{"order", "clip", "code", "audit"}));
  EXPECT_NO_THROW(check_allowed_words(Words{}));
  EXPECT_THROW(check_allowed_words(Words{"order", "all"}), UserError);
}

TEST(TrainingBasis, ArmsOfAnotherTrainingAreRefusedUntilThatIsAllowed) {
  GridCells cells = two_arms({{"train.clip", 1.0}}, {{"train.clip", 2.0}});
  for (int seed = 0; seed < 3; ++seed) cells.at("big", seed).code = "0.8";
  const BasisMismatch out = refused(cells);
  EXPECT_EQ(out.differences.size(), 2U);
  EXPECT_TRUE(refused(cells, {"clip"})) << "the program is another one, still";
  EXPECT_FALSE(refused(cells, {"clip", "code"}));
  ComparisonQuery query;
  query.allowed = {"clip", "code"};
  const Comparison comparison = cells.compare(query);
  EXPECT_EQ(evidence_for(table_of(comparison, "arm"), "big").contrast.n, 3U);
  EXPECT_FALSE(row_of(table_of(cells.compare({}), "arm"), "big").evidence->contrast.n > 0);
  EXPECT_EQ(row_of(table_of(cells.compare({}), "arm"), "big").all.n, 3U) << "its own mean is shown";
  const ArmComparison arms = compare_arms(cells.listing, cells.rows());  // of results
  EXPECT_TRUE(arms.arms[1].metrics.at("final_loss.valid").refused);
  const ArmComparison allowed = compare_arms(cells.listing, cells.rows(), "", {"clip", "code"});
  EXPECT_TRUE(allowed.arms[1].metrics.at("final_loss.valid").difference);
}

TEST(TrainingBasis, OnePairOfAnotherTrainingRefusesTheContrast) {
  GridCells cells = two_arms();
  cells.at("big", 2).audit = "gradients: fail";
  EXPECT_TRUE(has(refused(cells).text(), "gradients: fail"));
  EXPECT_FALSE(refused(cells, {"audit"}));
}

TEST(TrainingBasis, ArmsOfAFileSayThemselvesInWhatTheyDiffer) {
  GridCells cells;
  cells.grid({{"train.clip", {1.0, 2.0}}}, 3, two_factor_figure).baseline("1");
  EXPECT_FALSE(evidence_for(table_of(cells.by({"arm"}), "arm"), "2").pairs.refused);
  EXPECT_FALSE(evidence_for(table_of(cells.by({"clip"}), "train.clip"), "2").pairs.refused);
}

TEST(TrainingBasis, WhatASweepFileVariesItselfIsToldAlsoWhereItMovesWithTheFactor) {
  for (const char* leaf : {"train.batch_size", "train.clip", "data.first_step"}) {
    GridCells cells;
    for (const int level : {16, 32}) {  // a zip of two leaves
      for (int seed = 0; seed < 3; ++seed) {
        cells.add({{"model.d_model", level}, {leaf, 64 / level}}, seed,
                  two_factor_figure({0, 0}, seed) + 0.01 * seed * level);
      }
    }
    const Comparison comparison = cells.by({"d_model"});
    const EffectTable& table = table_of(comparison, "model.d_model");
    EXPECT_FALSE(evidence_for(table, "32").pairs.refused) << leaf;
    EXPECT_EQ(table.moving_with, Words{leaf}) << "it is named";
    EXPECT_EQ(comparison.variance.at(0).refused, "");
  }
}

TEST(TrainingBasis, InWhatStoresDifferNoFileHasTold) {
  std::vector<Listing> stores;
  for (const bool second : {false, true}) {
    GridCells cells({{"train.lr", second ? 0.2 : 0.1}, {"train.clip", second ? 2.0 : 1.0}},
                    second ? "results/b" : "results/a");
    cells.grid({two_factors()[0]}, 3, [](const std::vector<std::size_t>& at, std::int64_t seed) {
      return two_factor_figure({at[0], 0}, seed);
    });
    stores.push_back(std::move(cells.listing));
  }
  GridCells both;
  both.listing = listing_union(std::move(stores));
  EXPECT_EQ(leaves_of_arms(both.listing), Words{"model.d_model"});
  for (const char* factor : {"lr", "store"}) {
    ComparisonQuery query;
    query.by = {factor};
    query.baseline = factor == std::string("lr") ? "0.1" : "results/a";
    const Comparison comparison = both.compare(query);
    const BasisMismatch& out = comparison.effects.at(0).rows.at(1).evidence->pairs.refused;
    EXPECT_EQ(out.text(), "train.clip is 2, in the baseline 1") << factor;
    query.allowed = {"clip"};
    EXPECT_FALSE(both.compare(query).effects.at(0).rows.at(1).evidence->pairs.refused) << factor;
  }
  ComparisonQuery allowing;
  allowing.by = {"lr", "clip"};
  EXPECT_FALSE(both.compare(allowing).effects.at(0).rows.at(1).evidence->pairs.refused);
}

TEST(TrainingBasis, OfAnotherFactorEachLevelIsComparedForItself) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}, {"train.clip", {1.0, 2.0}}}, 5, two_factor_figure);
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = evidence_for(table_of(comparison, "model.d_model"), "32");
  EXPECT_FALSE(e.pairs.refused);
  EXPECT_EQ(e.pairs.combinations, 2U);
}

TEST(TrainingBasis, AnotherFactorDoesNotRefuseSharesOfVariance) {
  for (const char* leaf : {"train.clip", "train.batch_size", "data.seq_len"}) {
    GridCells cells;
    cells.grid({{"model.d_model", {16, 32}}, {leaf, {1, 2}}}, 5, two_factor_figure);
    const Comparison comparison = cells.by({"d_model"});
    EXPECT_EQ(comparison.variance.at(0).refused, "") << leaf;
  }
}

TEST(TrainingBasis, OtherEvaluationsAreRefusedAndNoWordAllowsThem) {
  const GridCells cells =
      two_arms({{"eval.final_windows", Value()}}, {{"eval.final_windows", Value(16)}});
  EXPECT_EQ(refused(cells).text(), "eval.final_windows is 16, in the baseline null");
  EXPECT_TRUE(refused(cells, {"order", "clip", "code", "audit"}));
  GridCells costs = cells;
  for (CellSummary& cell : costs.listing.cells) cell.metrics["cost_wall_time"] = 1;
  ComparisonQuery query;
  query.metric = "cost_wall_time";
  EXPECT_FALSE(evidence_for(table_of(costs.compare(query), "arm"), "big").pairs.refused);
}

TEST(TrainingBasis, WithoutACommonSeedOtherTrainingsAreRefusedLikewise) {
  GridCells cells = two_arms({{"train.clip", 1.0}}, {{"train.clip", 2.0}});
  for (int seed = 0; seed < 3; ++seed) cells.listing.cells[seed].seed = 10 + seed;
  EXPECT_TRUE(refused(cells));
  EXPECT_FALSE(refused(cells, {"clip"}));
}

TEST(TrainingBasis, WithoutACommonSeedEveryCellIsAsked) {
  GridCells cells = two_arms();
  for (int seed = 0; seed < 3; ++seed) cells.listing.cells[seed].seed = 10 + seed;
  cells.leaves_at("big", 1) = {{"eval.final_windows", Value(16)}};
  EXPECT_TRUE(refused(cells)) << "its evaluation is another one";
  cells = two_arms();
  for (int seed = 0; seed < 3; ++seed) cells.listing.cells[seed].seed = 10 + seed;
  cells.at("big", 1).code = "0.8";
  EXPECT_TRUE(refused(cells)) << "its program is another one";
}

TEST(TrainingBasis, StoresOfAnotherProgramAreRefused) {
  std::vector<Listing> stores;
  for (const char* store : {"results/a", "results/b"}) {
    GridCells cells({{"train.lr", store[8] == 'a' ? 0.1 : 0.2}}, store);
    cells.arm("base", {2.0, 2.1, 2.3});
    for (CellSummary& cell : cells.listing.cells) cell.code = store;
    stores.push_back(std::move(cells.listing));
  }
  GridCells both;
  both.listing = listing_union(std::move(stores));
  ComparisonQuery query;
  query.by = {"lr"};
  const Comparison comparison = both.compare(query);
  const BasisMismatch& out = evidence_for(table_of(comparison, "train.lr"), "0.2").pairs.refused;
  EXPECT_TRUE(has(out.text(), "results/b, in the baseline results/a")) << out.text();
  query.allowed = {"code"};
  EXPECT_FALSE(evidence_for(table_of(both.compare(query), "train.lr"), "0.2").pairs.refused);
}

}  // namespace training_basis_test
}  // namespace depthgrid
