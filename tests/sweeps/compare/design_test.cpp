#include "sweeps/compare/design.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace design_test {

using Names = std::vector<std::string>;

double no_matter(const std::vector<std::size_t>&, std::int64_t) {
  return 2;
}

Design design_by(const GridCells& cells, const std::string& factor, const std::string& base = "") {
  return design_of(cells.listing, cells.rows(), factor, base);
}

Names group_names(const Design& design) {
  Names out;
  for (const ComparedGroup& group : design.groups) out.push_back(group.name);
  return out;
}

/// What a user is told; empty if a group was found.
std::string refusal(const GridCells& cells, const std::string& factor, const std::string& base) {
  try {
    design_by(cells, factor, base);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DesignOfCells, AFractionIsKnownByItsSpellings) {
  GridCells cells({{"model.n_layers", 6}});
  cells.grid({{"model.residual.scale", {1, 1.0 / 6, 0.25}}}, 1, no_matter);
  for (const std::string name : {"1/6", "1/L", "0.1666", "0.16666666666666666"}) {
    const Design design = design_by(cells, "model.residual.scale", name);
    EXPECT_EQ(design.baseline, std::optional<std::size_t>(1)) << name;
    EXPECT_EQ(design.baseline_name, "1/6");
  }
  EXPECT_EQ(design_by(cells, "model.residual.scale", "1/4").baseline_name, "0.25");
}

TEST(DesignOfCells, LevelsAreGroupsInTheOrderOfTheFile) {
  GridCells cells;
  cells.grid({{"model.d_model", {64, 16, 32}}}, 2, no_matter);
  cells.at("16", 1).status = CellStatus::Diverged;
  cells.at("32", 0).status = CellStatus::Pending;
  const Design design = design_of(cells.listing, {5, 3, 4, 1, 2, 0}, "model.d_model");
  EXPECT_EQ(group_names(design), (Names{"64", "16", "32"}));
  EXPECT_EQ(design.groups[1].level, Value(16));
  EXPECT_EQ(design.groups[1].cells, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(design.groups[1].count(CellStatus::Diverged), 1U);
  EXPECT_EQ(design.groups[2].count(CellStatus::Pending), 1U);
  EXPECT_EQ(design.groups[0].missing(), 0U);
  EXPECT_EQ(design.groups[1].missing() + design.groups[2].missing(), 2U);
  EXPECT_TRUE(design.others.empty() && design.moving_with.empty());
  EXPECT_FALSE(design.of_arms());
}

TEST(DesignOfCells, WhatElseVariesWithinALevelMakesTheCombinations) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}, {"train.beta1", {0.8, 0.9}}},
             2, no_matter);
  const Design design = design_by(cells, "train.lr");
  EXPECT_EQ(design.others, (Names{"model.d_model", "train.beta1"}));
  EXPECT_TRUE(design.moving_with.empty());
  const auto combination = [&](const char* arm) {
    return design.combination[cells.row_of(arm, 0)];
  };
  EXPECT_EQ(combination("16,0.1,0.8"), combination("16,0.2,0.8"));
  EXPECT_NE(combination("16,0.1,0.8"), combination("16,0.1,0.9"));
  EXPECT_NE(combination("16,0.1,0.8"), combination("32,0.1,0.8"));
  EXPECT_EQ(design.combination[cells.row_of("16,0.1,0.8", 0)],
            design.combination[cells.row_of("16,0.1,0.8", 1)]);
}

TEST(DesignOfCells, ASeedAmongTheLeavesMakesNoCombination) {
  GridCells cells;
  for (const int level : {16, 32}) {
    for (int seed = 0; seed < 2; ++seed)
      cells.add({{"model.d_model", level}, {"seed", seed}}, seed, 2);
  }
  const Design design = design_by(cells, "model.d_model");
  EXPECT_TRUE(design.others.empty() && design.moving_with.empty());
  EXPECT_EQ(design.combination[0], design.combination[1]);
}

TEST(DesignOfCells, TheSecondColumnOfAZipMovesWithTheFactor) {
  GridCells cells;
  for (const int level : {16, 32}) {
    for (const double lr : {0.1, 0.2}) {
      for (int seed = 0; seed < 2; ++seed) {
        cells.add({{"model.d_model", level}, {"model.n_heads", level / 8}, {"train.lr", lr}}, seed,
                  2);
      }
    }
  }
  const Design design = design_by(cells, "model.d_model");
  EXPECT_EQ(design.moving_with, Names{"model.n_heads"});
  EXPECT_EQ(design.others, Names{"train.lr"});
  const Design other = design_by(cells, "train.lr");  // there it only makes combinations
  EXPECT_TRUE(other.moving_with.empty());
  EXPECT_EQ(other.others, (Names{"model.d_model", "model.n_heads"}));
}

TEST(DesignOfCells, AWidthThatMatchFoundIsNoFactor) {
  GridCells cells;
  cells.add({{"model.d_model", 16}, {"model.d_ff", 40}}, 0, 2);
  cells.add({{"model.d_model", 32}, {"model.d_ff", 24}}, 0, 2);
  EXPECT_EQ(design_by(cells, "model.d_model").moving_with, Names{"model.d_ff"});
  cells.listing.matched.emplace_back().leaf = "model.d_ff";
  EXPECT_TRUE(design_by(cells, "model.d_model").moving_with.empty());
}

TEST(DesignOfCells, AnArmWithoutTheLeafIsAGroupAfterTheLevels) {
  GridCells cells;
  cells.arm("plain", {2, 2}, "none");
  cells.grid({{"model.d_model", {16, 32}}}, 2, no_matter);
  cells.arm("untagged", {2, 2});
  const Design design = design_by(cells, "model.d_model");
  EXPECT_EQ(group_names(design), (Names{"16", "32", "none", "untagged"}));
  EXPECT_FALSE(design.groups[2].level || design.groups[3].level);
  EXPECT_EQ(design.groups[2].tag, "none");
  EXPECT_EQ(design.groups[2].cells, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(design.baseline, 0U) << "the first level";
}

TEST(DesignOfCells, ALeafIsComparedWithTheLevelOfTheSweepsBaselineOrTheFirst) {
  GridCells cells = two_factor_grid();
  EXPECT_EQ(design_by(cells, "model.d_model").baseline_name, "16");
  cells.baseline("32,0.2");
  EXPECT_EQ(design_by(cells, "model.d_model").baseline_name, "32");
  EXPECT_EQ(design_by(cells, "train.lr").baseline_name, "0.2");
  const Design design = design_by(cells, "train.lr");
  EXPECT_EQ(design.baseline, 1U);
  EXPECT_TRUE(design.groups[1].baseline);
  EXPECT_FALSE(design.groups[0].baseline);
  cells.arm("plain", {2, 2}).baseline("plain");
  EXPECT_EQ(design_by(cells, "model.d_model").baseline, 3U) << "an arm that the sweep names";
}

TEST(DesignOfCells, NoArmIsTakenThatTheSweepDidNotName) {
  GridCells cells = two_factor_grid();
  EXPECT_EQ(design_by(cells, "arm").baseline_name, "");
  EXPECT_FALSE(design_by(cells, "arm").baseline);
  cells.baseline("64,0.1");
  EXPECT_EQ(design_by(cells, "arm").baseline_name, "64,0.1");
  EXPECT_EQ(design_by(cells, "arm").baseline, 4U);
}

TEST(DesignOfCells, ABaselineIsNamedByItsLevelOrItsBeginning) {
  GridCells cells;
  cells.grid({{"train.lr", {0.1, 0.12, 0.2}}}, 1, no_matter).arm("plain", {2}, "none");
  EXPECT_EQ(design_by(cells, "train.lr", "0.2").baseline_name, "0.2");
  EXPECT_EQ(design_by(cells, "train.lr", "0.1").baseline_name, "0.1") << "exact goes first";
  EXPECT_EQ(design_by(cells, "train.lr", "no").baseline_name, "none");
  EXPECT_EQ(design_by(cells, "arm", "none").baseline_name, "plain") << "by its tag";
  EXPECT_EQ(design_by(cells, "arm", "pl").baseline, 3U);
  const std::string several = refusal(cells, "train.lr", "0.");
  EXPECT_TRUE(has(several, "'0.'") && has(several, "0.1; 0.12; 0.2")) << several;
  const std::string none = refusal(cells, "train.lr", "7");
  EXPECT_TRUE(has(none, "'7'") && has(none, "train.lr") && has(none, "0.12")) << none;
  EXPECT_TRUE(has(refusal(cells, "arm", "big"), "plain"));
}

TEST(DesignOfCells, ABaselineThatIsNotSelectedIsNamedButNoGroup) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}}, 2, no_matter).baseline("16");
  const Design design = design_of(cells.listing, {2, 3}, "model.d_model");
  EXPECT_EQ(design.baseline_name, "16");
  EXPECT_FALSE(design.baseline);
  EXPECT_EQ(group_names(design), Names{"32"});
  EXPECT_EQ(design_of(cells.listing, {2, 3}, "model.d_model", "16").baseline_name, "16");
}

TEST(DesignOfCells, TagsPoolTheirArmsAndAnArmWithoutOneStandsForItself) {
  GridCells cells;
  cells.add({{"train.lr", 0.1}}, 0, 2, "slow", "plain");
  cells.add({{"train.lr", 0.2}}, 0, 2, "fast", "plain");
  cells.add({{"train.lr", 0.1}}, 0, 2, "gated");
  const Design design = design_by(cells, "tag");
  EXPECT_EQ(group_names(design), (Names{"plain", "gated"}));
  EXPECT_EQ(design.others, Names{"train.lr"});
  EXPECT_TRUE(design.of_arms());
}

TEST(DesignOfCells, ArmsOfOneStoreDifferInNothingButTheirSeeds) {
  const Design design = design_by(two_factor_grid(), "arm");
  EXPECT_TRUE(design.others.empty() && design.moving_with.empty());
  EXPECT_EQ(design.groups.size(), 6U);
  EXPECT_EQ(design.combination.front(), design.combination.back());
}

TEST(DesignOfCells, OfSeveralStoresArmsAreComparedWithinWhatTheStoresDifferIn) {
  GridCells first({{"train.lr", 0.1}}, "results/a"), second({{"train.lr", 0.2}}, "results/b");
  for (GridCells* cells : {&first, &second}) cells->arm("base", {2, 2}).arm("big", {2, 2});
  GridCells both;
  both.listing = listing_union({first.listing, second.listing});
  const Design arms = design_by(both, "arm");
  EXPECT_EQ(group_names(arms), (Names{"base", "big"}));
  EXPECT_EQ(arms.others, Names{"train.lr"});
  const Design stores = design_by(both, "store", "results/b");
  EXPECT_EQ(group_names(stores), (Names{"results/a", "results/b"}));
  EXPECT_EQ(stores.baseline, 1U);
  EXPECT_EQ(stores.groups[0].cells.size(), 4U);
}

TEST(DesignOfCells, FactorsAreArmsTagsStoresAndLeavesThatVary) {
  GridCells cells = two_factor_grid();
  cells.add({{"seed", 7}, {"model.d_model", 16}}, 7, 2);
  EXPECT_EQ(factor_names(cells.listing), (Names{"arm", "tag", "model.d_model", "train.lr"}));
  cells.listing.stores = {"a", "b"};
  const Names several = factor_names(cells.listing);
  EXPECT_EQ(std::ranges::count(several, "store"), 1);
  EXPECT_EQ(level_of(cells.listing, 0, "train.lr")->number(), 0.1);
  EXPECT_EQ(level_of(cells.listing, 0, "train.clip"), nullptr);
  EXPECT_EQ(level_of(cells.listing, 30, "train.lr"), nullptr);
}

}  // namespace design_test
}  // namespace depthgrid
