#include "sweeps/report/listing_union.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/compare/design.hpp"
#include "sweeps/compare/factor_name.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace listing_union_test {

double by_seed(const std::vector<std::size_t>& at, std::int64_t seed) {
  return 2 + static_cast<double>(at[0]) + static_cast<double>(seed) / 10;
}

/// A store whose sweep has these constant leaves and varies the width.
GridCells store_of(const std::string& name, const ValueMap& constant, ValueList widths = {16, 32}) {
  GridCells out(constant, name);
  out.grid({{"model.d_model", std::move(widths)}}, 2, by_seed);
  return out;
}

TEST(ListingUnion, OfOneStoreIsItsListing) {
  const GridCells one = store_of("a", {{"train.lr", 0.1}});
  const Listing out = listing_union({one.listing});
  EXPECT_TRUE(out.stores.empty());
  EXPECT_EQ(out.cells.size(), 4U);
  EXPECT_EQ(out.store_of(3), "a");
  EXPECT_EQ(find_key(out.cells[0].overrides, "train.lr"), nullptr);
  EXPECT_THROW(listing_union({}), UserError);
}

TEST(ListingUnion, ALeafInWhichTheStoresDifferVaries) {
  const GridCells a = store_of("a", {{"data.first_step", 1}, {"train.steps", 10}});
  const GridCells b = store_of("b", {{"data.first_step", 2}, {"train.steps", 10}});
  const Listing out = listing_union({a.listing, b.listing});
  ASSERT_EQ(out.cells.size(), 8U);
  EXPECT_EQ(out.stores, (std::vector<std::string>{"a", "b"}));
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(out.store_of(row), row < 4 ? "a" : "b");
    const ValueMap& overrides = out.cells[row].overrides;
    ASSERT_NE(find_key(overrides, "data.first_step"), nullptr);
    EXPECT_EQ(*find_key(overrides, "data.first_step"), Value(row < 4 ? 1 : 2));
    EXPECT_EQ(find_key(overrides, "train.steps"), nullptr) << "in which they are equal";
    EXPECT_TRUE(std::is_sorted(overrides.begin(), overrides.end(),
                               [](const auto& x, const auto& y) { return x.first < y.first; }));
  }
}

TEST(ListingUnion, ALeafThatOneStoreVariesIsAnOverrideOfAll) {
  const GridCells a = store_of("a", {{"train.lr", 0.1}});
  GridCells b({{"model.d_model", 64}}, "b");
  b.grid({{"train.lr", {0.1, 0.2}}}, 2, by_seed);
  const Listing out = listing_union({a.listing, b.listing});
  for (const CellSummary& cell : out.cells) EXPECT_EQ(cell.overrides.size(), 2U) << cell.alias;
  EXPECT_EQ(*find_key(out.cells[0].overrides, "train.lr"), Value(0.1));
  EXPECT_EQ(*find_key(out.cells[4].overrides, "model.d_model"), Value(64));
}

TEST(ListingUnion, LeavesOfTheRunAndSeedsMakeNoFactor) {
  // The device belongs to the run; of a digest of files, another value is another experiment.
  const GridCells a =
      store_of("a", {{"seed", 1}, {"resources.device", "cpu"}, {"data.corpus@sha256", "x"}});
  const GridCells b =
      store_of("b", {{"seed", 2}, {"resources.device", "cuda"}, {"data.corpus@sha256", "y"}});
  GridCells c({{"data.corpus@sha256", "y"}}, "c");  // it varies the seed
  c.add({{"model.d_model", 64}, {"seed", 5}}, 5, 2);
  const Listing out = listing_union({a.listing, b.listing, c.listing});
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(find_key(out.cells[row].overrides, "seed"), nullptr);
  }
  EXPECT_EQ(factor_names(out), (std::vector<std::string>{"arm", "tag", "store",
                                                         "data.corpus@sha256", "model.d_model"}));
}

TEST(ListingUnion, ACellOfTwoStoresCountsOnceWhereItHasCompleted) {
  GridCells a = store_of("a", {}), b = store_of("b", {}, {16, 64});
  a.at("16", 0).status = CellStatus::Pending;
  a.at("16", 1).metrics["final_loss.valid"] = 7;
  b.at("16", 0).metrics["final_loss.valid"] = 5;
  b.baseline("16");
  const Listing out = listing_union({a.listing, b.listing});
  ASSERT_EQ(out.cells.size(), 6U) << "16 and 32 of the first, 64 of the second";
  EXPECT_EQ(out.cells[0].status, CellStatus::Completed);
  EXPECT_EQ(out.cells[0].metrics.at("final_loss.valid"), 5) << "the second has completed it";
  EXPECT_EQ(out.store_of(0), "b");
  EXPECT_EQ(out.cells[1].metrics.at("final_loss.valid"), 7) << "else the first counts";
  EXPECT_EQ(out.store_of(1), "a");
  EXPECT_TRUE(out.baseline[0]) << "the baseline of either";
  a.baseline("16");
  b.baseline("");
  EXPECT_TRUE(listing_union({a.listing, b.listing}).baseline[0]) << "though the second's counts";
  EXPECT_EQ(out.baseline.size(), 6U);
}

TEST(ListingUnion, WhatFiguresAreOfGoesWithTheirCell) {
  GridCells a = store_of("a", {{"eval.final_windows", 8}});
  GridCells b = store_of("b", {{"eval.final_windows", 16}}, {64});
  a.listing.withheld[1] = {"final_bits_per_byte.valid"};
  b.listing.withheld[0] = {"eval_bits_per_byte.valid"};
  const Listing out = listing_union({a.listing, b.listing});
  EXPECT_EQ(out.leaves.number(3, "eval.final_windows"), 8);
  EXPECT_EQ(out.leaves.number(4, "eval.final_windows"), 16);
  EXPECT_EQ(out.withheld[1], a.listing.withheld[1]);
  EXPECT_EQ(out.withheld[4], b.listing.withheld[0]);
  GridCells again = store_of("c", {{"eval.final_windows", 8}});
  again.listing.withheld.clear();
  a.at("16", 0).status = CellStatus::Failed;
  EXPECT_TRUE(listing_union({a.listing, again.listing}).withheld[0].empty());
}

TEST(ListingUnion, TheQuestionIsThatOfTheFirstStore) {
  GridCells a = store_of("a", {}), b = store_of("b", {{"train.lr", 0.2}});
  b.listing.metric = "final_accuracy.valid";
  b.listing.goal = "maximize";
  b.listing.planned = false;
  a.listing.not_shown = 2;
  b.listing.not_shown = 3;
  a.listing.plan_damages = {"one"};
  b.listing.plan_damages = {"two"};
  b.listing.older_rules = {{"self", 1}};
  const Listing out = listing_union({a.listing, b.listing});
  EXPECT_EQ(out.metric, "final_loss.valid");
  EXPECT_EQ(out.goal, "minimize");
  EXPECT_FALSE(out.planned);
  EXPECT_EQ(out.not_shown, 5U);
  EXPECT_EQ(out.plan_damages.size(), 2U);
  EXPECT_EQ(out.older_rules.at("self"), 1);
  ASSERT_EQ(out.other_questions.size(), 1U) << "which is not forgotten";
  EXPECT_EQ(out.other_questions[0].store, 1U);
  EXPECT_EQ(out.other_questions[0].metric, "final_accuracy.valid");
  EXPECT_EQ(out.other_questions[0].goal, "maximize");
}

/// Rates of groups follow train.lr unless a file sets them.
TEST(ListingUnion, LeavesThatOnlyFollowAnotherAreNoFactors) {
  const SweepFiles files;
  const auto store = [&files](const std::string& name, const std::string& train) {
    const std::string text =
        "data: {corpus: synthetic:markov, seq_len: 9}\n"
        "model: {d_model: 16, n_layers: 2, n_heads: 2, max_seq_len: 9}\n"
        "train: {" +
        train + "}\nseeds: 2\n";
    return list_sweep(load_sweep({files.write(name + ".yaml", text), {}, false}), name);
  };
  const Listing low = store("low", "lr: 1e-3"), high = store("high", "lr: 2e-3");
  EXPECT_TRUE(std::ranges::binary_search(low.derived, "train.groups.trunk.lr"));
  EXPECT_FALSE(std::ranges::binary_search(low.derived, "train.lr"));
  const Listing both = listing_union({low, high});
  EXPECT_EQ(factor_names(both), (std::vector<std::string>{"arm", "tag", "store", "train.lr"}));
  EXPECT_EQ(factor_named(both, "--by", "lr"), "train.lr");
  EXPECT_TRUE(design_of(both, {0, 1, 2, 3}, "train.lr").moving_with.empty());
  // One that a file sets is one.
  const Listing own = store("own", "lr: 2e-3, groups: {trunk: {lr: 5e-4}}");
  const std::vector<std::string> names = factor_names(listing_union({low, own}));
  EXPECT_EQ(names,
            (std::vector<std::string>{"arm", "tag", "store", "train.groups.trunk.lr", "train.lr"}));
}

/// Of two releases that derive a default otherwise, nothing else may tell the cells apart.
TEST(ListingUnion, AnotherDerivedValueAloneIsAFactor) {
  GridCells a = store_of("a", {{"train.diverged_above", 1000}});
  GridCells b = store_of("b", {{"train.diverged_above", 500}});
  for (GridCells* cells : {&a, &b}) {
    cells->listing.derived = {"train.diverged_above"};
    for (CellSummary& cell : cells->listing.cells) cell.overrides.clear();
  }
  const std::vector<std::string> names = factor_names(listing_union({a.listing, b.listing}));
  EXPECT_EQ(names.back(), "train.diverged_above");
}

}  // namespace listing_union_test
}  // namespace depthgrid
