#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/number_text.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace asked_factors_test {

using Names = std::vector<std::string>;

/// Three widths, of which each has its own number of heads, at two rates.
GridCells zipped() {
  GridCells out;
  for (std::size_t level = 0; level < 3; ++level) {
    for (std::size_t rate = 0; rate < 2; ++rate) {
      for (int seed = 0; seed < 5; ++seed) {
        out.add({{"model.d_model", 16 << level},
                 {"model.n_heads", 2 << level},
                 {"train.lr", rate == 0 ? 0.1 : 0.2}},
                seed, two_factor_figure({level, rate}, seed));
      }
    }
  }
  return out;
}

TEST(AskedFactors, LeavesThatMoveTogetherAreOneFactorAndCountOnce) {
  const GridCells cells = zipped();
  const Comparison one = cells.by({"d_model"}), both = cells.by({"d_model", "n_heads"});
  ASSERT_EQ(both.effects.size(), 1U) << "shown once, and nothing at single levels of itself";
  EXPECT_EQ(both.family, 2U);
  EXPECT_EQ(both.effects[0].title(), "model.d_model (with model.n_heads)");
  EXPECT_EQ(both.by, Names{"model.d_model (with model.n_heads)"});
  EXPECT_EQ(evidence_for(both.effects[0], "32").holm, evidence_for(one.effects[0], "32").holm);
  ASSERT_EQ(both.variance.size(), 1U);
  EXPECT_EQ(both.variance[0].refused, "");
  EXPECT_EQ(both.variance[0].b, "");
  EXPECT_EQ(cells.by({"n_heads", "d_model"}).effects[0].title(),
            "model.n_heads (with model.d_model)");
}

/// As a width that `match:` has solved for each level.
TEST(AskedFactors, AMatchedWidthIsOneWithItsFactor) {
  GridCells cells = zipped();
  cells.listing.matched.emplace_back().leaf = "model.n_heads";
  const Comparison both = cells.by({"d_model", "n_heads"});
  ASSERT_EQ(both.effects.size(), 1U);
  EXPECT_EQ(both.family, 2U);
  EXPECT_EQ(both.effects[0].title(), "model.d_model (with model.n_heads)");
}

TEST(AskedFactors, AThirdLeafStaysAFactorOfItsOwn) {
  const Comparison comparison = zipped().by({"d_model", "lr", "n_heads"});
  EXPECT_EQ(comparison.by, (Names{"model.d_model (with model.n_heads)", "train.lr"}));
  EXPECT_EQ(comparison.effects.size(), 2U + 2U + 3U);
  EXPECT_EQ(comparison.family, 3U);
  ASSERT_EQ(comparison.variance.size(), 1U);
  EXPECT_EQ(comparison.variance[0].refused, "");
}

TEST(AskedFactors, ALeafThatHasFewerLevelsIsAnotherFactor) {
  GridCells cells;
  for (const auto& [width, heads] : {std::pair(16, 2), std::pair(32, 2), std::pair(64, 4)}) {
    for (int seed = 0; seed < 3; ++seed) {
      cells.add({{"model.d_model", width}, {"model.n_heads", heads}}, seed, 2 + 0.1 * seed);
    }
  }
  EXPECT_EQ(cells.by({"d_model", "n_heads"}).by, (Names{"model.d_model", "model.n_heads"}));
}

TEST(AskedFactors, TheTextNamesTheFamilyInWords) {
  const std::string two = answer_by(two_factor_grid(), {"d_model", "lr"}).text;
  EXPECT_TRUE(has(two,
                  "Holm p and `all at once`: of the family of 3 contrasts (all of --by "
                  "model.d_model, train.lr)"))
      << two;
  EXPECT_TRUE(has(answer_by(zipped(), {"d_model", "n_heads"}).text,
                  "2 contrasts (all of --by model.d_model (with model.n_heads))"));
  ComparisonQuery query;
  query.by = {"d_model"};
  query.within = "lr";
  const GridCells cells = two_factor_grid();
  EXPECT_TRUE(has(answer(cells, query, cells.rows()).text,
                  "4 contrasts (all of --by model.d_model, at each level of train.lr)"));
}

TEST(AskedFactors, ALevelsNameIsItsShortestTextInAllOutputs) {
  GridCells cells;
  cells.grid({{"model.dt", {0.0625, 0.12345678, 1e-7, 1.0}}}, 3,
             [](const std::vector<std::size_t>& at, std::int64_t seed) {
               return 2.0 + 0.1 * static_cast<double>(at[0]) +
                      0.01 * static_cast<double>(seed * (seed + static_cast<int>(at[0])));
             });
  const CompareAnswer of = answer_by(cells, {"dt"});
  const Names names = {"0.0625", "0.12345678", "1e-7", "1"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(entry(of.csv, i, "group"), names[i]);
    EXPECT_EQ(of.json["effects"][0]["groups"][i]["name"], names[i]);
    EXPECT_NE(line_of(of.text, names[i] + " "), "") << of.text;
  }
  ComparisonQuery within;
  within.by = {"arm"};
  within.within = "dt";
  EXPECT_TRUE(has(answer(cells, within, cells.rows()).text, "at model.dt = 0.0625:"));
}

TEST(AskedFactors, AnExactPIsNotPrintedAsLessThanItself) {
  EXPECT_EQ(exact_probability_text(0.0625), ".0625");
  EXPECT_EQ(exact_probability_text(0.1875), ".1875");
  EXPECT_EQ(exact_probability_text(0.125), ".125");
  EXPECT_EQ(exact_probability_text(0.5), ".500");
  EXPECT_EQ(exact_probability_text(0.03125), ".031");
  EXPECT_EQ(exact_probability_text(1), "1");
  EXPECT_EQ(exact_probability_text(kNaN), "-");
  const std::string text = answer_by(widths(), {"d_model"}).text;
  EXPECT_TRUE(has(text, "no sign-flip p of 5 seeds is below .0625")) << text;
  EXPECT_TRUE(has(text, " .0625 ")) << text;
}

}  // namespace asked_factors_test
}  // namespace depthgrid
