#include "sweeps/compare/combination_pairing.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace combination_pairing_test {

const std::vector<double> kPlain = {2.5, 2.45, 2.52, 2.48, 2.5};  // mean 2.49
constexpr double kExact = 1e-12;

/// Means of two_factor_figure() over the seeds, by hand: width 16 at each rate.
constexpr double kNarrowSlow = (2.412 + 2.398 + 2.431 + 2.405 + 2.420) / 5;
constexpr double kNarrowFast = (2.401 + 2.379 + 2.425 + 2.388 + 2.411) / 5;

GridCells grid_and_arm(const ValueMap& of_arm) {
  GridCells out = two_factor_grid();
  out.arm("plain", kPlain, "", of_arm);
  return out;
}

const ContrastEvidence& of_plain(const Comparison& comparison) {
  return evidence_for(table_of(comparison, "model.d_model"), "plain");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CombinationPairing, AnArmIsComparedWithTheCombinationsThatShareItsLeaves) {
  const GridCells cells = grid_and_arm({{"train.lr", 0.2}});
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = of_plain(comparison);
  EXPECT_NEAR(e.contrast.mean, 2.49 - kNarrowFast, kExact);
  EXPECT_NEAR(e.baseline.mean, kNarrowFast, kExact);
  EXPECT_EQ(e.contrast.n, 5U);
  EXPECT_TRUE(e.pairs.unpaired.empty()) << "the other rate is no partner that is missing";
  EXPECT_EQ(e.compared_with, "compared with the mean of 16 at train.lr = 0.2, as plain has it");
  EXPECT_EQ(evidence_for(table_of(comparison, "model.d_model"), "32").compared_with, "");
}

TEST(CombinationPairing, WhereItSharesNoLeafTheMeanIsOverAllAndThatIsSaid) {
  for (const ValueMap& own : {ValueMap{}, ValueMap{{"train.lr", 0.5}}}) {
    const GridCells cells = grid_and_arm(own);
    const Comparison comparison = cells.by({"d_model"});
    const ContrastEvidence& e = of_plain(comparison);
    EXPECT_NEAR(e.contrast.mean, 2.49 - (kNarrowSlow + kNarrowFast) / 2, kExact);
    EXPECT_TRUE(has(e.compared_with, "over all combinations of train.lr")) << e.compared_with;
    EXPECT_TRUE(has(e.compared_with, "plain shares no value")) << e.compared_with;
  }
}

TEST(CombinationPairing, LeavesThatItDoesNotShareAreAveragedOver) {
  GridCells cells;
  cells.grid({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}, {"train.beta1", {0.8, 0.9}}},
             3, [](const std::vector<std::size_t>& at, std::int64_t seed) {
               return 2.0 + 0.1 * static_cast<double>(at[0]) + 0.02 * static_cast<double>(at[1]) +
                      0.3 * static_cast<double>(at[2]) + 0.001 * static_cast<double>(seed * seed);
             });
  cells.arm("plain", {2, 2, 2}, "", {{"train.lr", 0.2}});
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = of_plain(comparison);
  EXPECT_NEAR(e.baseline.mean, 2.02 + 0.15 + 0.005 / 3, kExact);
  EXPECT_EQ(e.compared_with,
            "compared with the mean of 16 at train.lr = 0.2, as plain has it, over all levels of "
            "train.beta1");
}

TEST(CombinationPairing, WhereNoCombinationAgreesInAllTheMeanIsOverAll) {
  GridCells cells;
  for (const auto& [lr, beta] : {std::pair(0.1, 0.8), std::pair(0.2, 0.9)}) {
    for (const int width : {16, 32}) {
      for (int seed = 0; seed < 3; ++seed) {
        cells.add({{"model.d_model", width}, {"train.lr", lr}, {"train.beta1", beta}}, seed,
                  2 + lr + 0.01 * seed * width);
      }
    }
  }
  cells.arm("plain", {2, 2, 2}, "", {{"train.lr", 0.1}, {"train.beta1", 0.9}});
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = of_plain(comparison);
  EXPECT_NEAR(e.baseline.mean, 2.15 + 0.16, kExact);
  EXPECT_TRUE(has(e.compared_with, "over all combinations of")) << e.compared_with;
  EXPECT_TRUE(has(e.compared_with, "train.lr = 0.1")) << e.compared_with;
  EXPECT_TRUE(has(e.compared_with, "at once")) << e.compared_with;
}

TEST(CombinationPairing, BesideAnArmLevelsAreTakenAtItsLeaves) {
  GridCells cells = grid_and_arm({{"train.lr", 0.2}});
  cells.baseline("plain");
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = evidence_for(table_of(comparison, "model.d_model"), "16");
  EXPECT_NEAR(e.contrast.mean, kNarrowFast - 2.49, kExact);
  EXPECT_EQ(e.compared_with, "compared as the mean of 16 at train.lr = 0.2, as plain has it");
}

TEST(CombinationPairing, AnArmOfSeveralCombinationsIsPairedInEach) {
  GridCells cells = two_factor_grid();
  for (const double lr : {0.1, 0.2}) {
    for (std::int64_t seed = 0; seed < 5; ++seed) {
      cells.add({{"train.lr", lr}}, seed, kPlain[static_cast<std::size_t>(seed)], "plain,lr",
                "plain");
    }
  }
  cells.listing.cells[40 - 1].status = CellStatus::Failed;  // of the second rate, seed 4
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = of_plain(comparison);
  EXPECT_EQ(e.contrast.n, 5U);
  EXPECT_NEAR(e.pairs.theirs[0], (2.412 + 2.401) / 2, kExact);
  EXPECT_NEAR(e.pairs.theirs[4], 2.420, kExact) << "the rate that is complete there";
  EXPECT_EQ(e.pairs.unpaired, std::vector<std::size_t>{cells.row_of("16,0.2", 4)});
}

TEST(CombinationPairing, ACombinationThatDivergedIsNoReasonToTakeOthers) {
  GridCells cells = grid_and_arm({{"train.lr", 0.2}});
  for (int seed = 0; seed < 5; ++seed) cells.at("16,0.2", seed).status = CellStatus::Diverged;
  const Comparison comparison = cells.by({"d_model"});
  const ContrastEvidence& e = of_plain(comparison);
  EXPECT_EQ(e.contrast.n, 0U);
  EXPECT_EQ(e.pairs.unpaired.size(), 5U);
}

TEST(CombinationPairing, WithoutACommonSeedTheSameCombinationsAreAveraged) {
  GridCells cells = two_factor_grid();
  for (int s = 0; s < 3; ++s) cells.add({{"train.lr", 0.2}}, 10 + s, 2.4 + 0.01 * s, "plain");
  const Comparison comparison = cells.by({"d_model"});
  ASSERT_TRUE(of_plain(comparison).unpaired);
  EXPECT_NEAR(of_plain(comparison).unpaired->value, 2.41 - kNarrowFast, kExact);
}

TEST(CombinationPairing, ThePartnerIsSaidInAllOutputs) {
  const GridCells cells = grid_and_arm({{"train.lr", 0.2}});
  const Comparison comparison = cells.by({"d_model"});
  const std::string said = "compared with the mean of 16 at train.lr = 0.2, as plain has it";
  EXPECT_TRUE(has(comparison_text(cells.listing, comparison), "plain: " + said + "\n"));
  const auto json = parse_json(comparison_json(cells.listing, comparison, std::nullopt));
  const auto& groups = json["effects"][0]["groups"];
  EXPECT_EQ(groups[3]["contrast"]["compared_with"], said);
  EXPECT_TRUE(groups[1]["contrast"]["compared_with"].is_null());
  EXPECT_TRUE(has(csv_of(comparison_csv_table(comparison)), said));
}

}  // namespace combination_pairing_test
}  // namespace depthgrid
