// Stein's rule on a sweep: what stage one decides. The rule itself is tested in stein_test, what is
// kept of the decision in two_stage_record_test.
#include "sweeps/compare/two_stage.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace two_stage_test {

const std::vector<double> kBase = {2.0, 2.1, 1.9, 2.05, 1.95};
const std::vector<double> kWide = {1.9, 2.2, 1.7, 2.15, 2.0};     // differences -.1 .1 -.2 .1 .05
const std::vector<double> kNear = {2.01, 2.12, 1.9, 2.06, 1.97};  // .01 .02 0 .01 .02

GridCells arms() {
  GridCells out;
  out.arm("base", kBase).arm("wide", kWide).arm("near", kNear).baseline("base");
  return out;
}

/// n of the widest: s² = (.01 + .01 + .04 + .01 + .0025 − .05²/5) / 4 of mean −.01.
TEST(TwoStage, TheWidestContrastSaysHowManySeeds) {
  const TwoStageRecord record = decide_two_stage(arms().listing, {"0.1", 1000}).value();
  ASSERT_EQ(record.contrasts.size(), 2U);
  const double s = std::sqrt((0.0725 - 5 * 0.01 * 0.01) / 4);
  EXPECT_NEAR(record.contrasts[0].sd, s, 1e-12);
  const double t = 2.7764451051977987;  // scipy.stats.t.ppf(.975, 4)
  const auto n = static_cast<std::size_t>(std::ceil(t * s / 0.1 * (t * s / 0.1)));
  EXPECT_EQ(record.seeds.size(), n);
  EXPECT_NEAR(record.contrasts[0].half_width, t * s / std::sqrt(static_cast<double>(n)), 1e-12);
  EXPECT_LE(record.contrasts[0].half_width, 0.1);
  EXPECT_TRUE(record.met);
  EXPECT_EQ(record.first_seeds, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(record.seeds[5], 5);
}

TEST(TwoStage, TheRecordSaysWhatTheDifferencesAreOf) {
  const TwoStageRecord record = decide_two_stage(arms().listing, {"0.1", 1000}).value();
  EXPECT_EQ(record.metric, "final_loss.valid");
  EXPECT_EQ(record.baseline, "base");
  EXPECT_EQ(seeds_asked_for(record), static_cast<double>(record.seeds.size()));
  // With a cap the rule asks for as many, and says so.
  const TwoStageRecord capped = decide_two_stage(arms().listing, {"0.1", 8}).value();
  EXPECT_EQ(capped.seeds.size(), 8U);
  EXPECT_EQ(seeds_asked_for(capped), seeds_asked_for(record));
  EXPECT_EQ(widest_of(capped), capped.contrasts[0].half_width);
}

TEST(TwoStage, FiveSeedsMaySufficeAndManyMayNot) {
  EXPECT_EQ(decide_two_stage(arms().listing, {"1", 1000}).value().seeds.size(), 5U);
  const TwoStageRecord few = decide_two_stage(arms().listing, {"0.001", 8}).value();
  EXPECT_EQ(few.seeds.size(), 8U);
  EXPECT_FALSE(few.met);
}

TEST(TwoStage, PerCentAreOfTheBaselinesMean) {
  const TwoStageRecord record = decide_two_stage(arms().listing, {"5%", 1000}).value();
  EXPECT_NEAR(record.half_width, 0.1, 1e-12) << "of 2";
  EXPECT_EQ(record.seeds, decide_two_stage(arms().listing, {"0.1", 1000}).value().seeds);
}

TEST(TwoStage, NothingIsDecidedBeforeTheStageIsWhole) {
  GridCells cells = arms();
  cells.at("near", 3).status = CellStatus::Pending;
  EXPECT_FALSE(decide_two_stage(cells.listing, {"0.1", 100}));
  cells.at("near", 3).status = CellStatus::Diverged;
  try {
    decide_two_stage(cells.listing, {"0.1", 100});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::Partial);
    EXPECT_NE(std::string(error.what()).find("diverged: near,s3"), std::string::npos);
  }
}

/// What helps differs: a cell that diverged does so again.
TEST(TwoStage, BrokenCellsAreNamedWithWhatHelps) {
  GridCells cells = arms();
  cells.at("near", 3).status = CellStatus::Diverged;
  cells.at("wide", 0).status = CellStatus::Oom;
  cells.at("wide", 1).status = CellStatus::Cancelled;
  const auto said = [&] {
    try {
      decide_two_stage(cells.listing, {"0.1", 100});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string all = said();
  EXPECT_NE(all.find("diverged: near,s3: trained again, they diverge again"), std::string::npos);
  EXPECT_NE(all.find("train.lr"), std::string::npos) << all;
  EXPECT_NE(all.find("failed: wide,s0: depthgrid retry --failed results/grid"), std::string::npos);
  EXPECT_NE(all.find("cancelled: wide,s1: depthgrid retry --class cancelled results/grid"),
            std::string::npos)
      << all;
  cells.at("wide", 0).status = cells.at("wide", 1).status = CellStatus::Completed;
  EXPECT_EQ(said().find("retry"), std::string::npos) << "it helps no cell that diverged";
}

TEST(TwoStage, AFigureThatIsNotThereIsNoDecision) {
  GridCells cells = arms();
  cells.at("near", 2).metrics.clear();
  EXPECT_THROW(decide_two_stage(cells.listing, {"0.1", 100}), UserError);
  for (std::int64_t seed = 0; seed < 5; ++seed) cells.at("near", seed).metrics.clear();
  EXPECT_THROW(decide_two_stage(cells.listing, {"0.1", 100}), UserError);
}

TEST(TwoStage, ARecordIsOfOneQuestion) {
  const SweepFiles files;
  const std::string text =
      "model: {d_model: 16, n_layers: 2, n_heads: 2}\ndata: {corpus: synthetic:markov}\n"
      "baseline: {train.lr: 1e-3}\nseeds: 5\n";
  const Sweep two = files.load(text + "parameters: {train.lr: [1e-3, 3e-3]}\n");
  const Sweep three = files.load(text + "parameters: {train.lr: [1e-3, 3e-3, 1e-2]}\n");
  TwoStageRecord record;
  record.metric = two.metric;
  record.baseline = two.baseline_arm;
  record.asked = "0.1";
  record.max_seeds = 100;
  for (const CellPlan& cell : three.cells) {
    if (!cell.baseline && cell.seed == 0) record.contrasts.push_back({cell.arm, 0, 0});
  }
  ASSERT_EQ(record.contrasts.size(), 2U);
  EXPECT_NO_THROW(check_same_two_stage(record, three, {"0.1", 100}));
  EXPECT_NO_THROW(check_same_two_stage(record, two, {"0.1", 100})) << "an arm was taken out";
  EXPECT_THROW(check_same_two_stage(record, three, {"0.2", 100}), UserError);
  EXPECT_THROW(check_same_two_stage(record, three, {"0.1", 99}), UserError);
  record.contrasts.pop_back();
  EXPECT_NO_THROW(check_same_two_stage(record, two, {"0.1", 100}));
  EXPECT_THROW(check_same_two_stage(record, three, {"0.1", 100}), UserError) << "a new arm";
  record.baseline = "lr=0.01";
  EXPECT_THROW(check_same_two_stage(record, two, {"0.1", 100}), UserError);
}

TEST(TwoStage, AddedSeedsBelongToTheSweep) {
  const SweepFiles files;
  const std::string text =
      "model: {d_model: 16, n_layers: 2, n_heads: 2}\ndata: {corpus: synthetic:markov}\n"
      "parameters: {train.lr: [1e-3, 3e-3]}\nbaseline: {train.lr: 1e-3}\n";
  const Sweep five = files.load(text + "seeds: 5\n");
  TwoStageRecord record;
  record.seeds = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(added_seeds(record, five), "seeds=[0, 1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(files.load(text + "seeds: 5\n", {*added_seeds(record, five)}).cells.size(), 14U);
  EXPECT_EQ(added_seeds(record, files.load(text + "seeds: 9\n")), std::nullopt);
  EXPECT_EQ(added_seeds(record, files.load(text + "seeds: [7, 3]\n")),
            "seeds=[7, 3, 0, 1, 2, 4, 5, 6]");
  EXPECT_NO_THROW(check_two_stage(five, {"0.1", 100}));
  for (const char* width : {"", "0", "-1", "nan", "1e", "5 %", "%"}) {
    EXPECT_THROW(check_two_stage(five, {width, 100}), UserError) << width;
  }
  EXPECT_THROW(check_two_stage(files.load(text + "seeds: 4\n"), {"0.1", 100}), UserError);
  EXPECT_THROW(check_two_stage(five, {"0.1", 4}), UserError);
}

}  // namespace two_stage_test
}  // namespace depthgrid
