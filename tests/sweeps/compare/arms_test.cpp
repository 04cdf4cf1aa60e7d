#include "sweeps/compare/arms.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/compare/arms_report.hpp"

namespace depthgrid {
namespace arms_test {

/// A listing built one cell at a time.
struct Cells {
  Listing listing;

  Cells() {
    listing.sweep = "sizes";
    listing.store = "results/sizes";
    listing.metric = "final_loss.valid";
    listing.goal = "minimize";
  }

  Cells& add(const std::string& arm, std::int64_t seed, double loss,
             CellStatus status = CellStatus::Completed) {
    CellSummary cell;
    cell.id = "id" + std::to_string(listing.cells.size());
    cell.arm = arm;
    cell.alias = arm + ",s" + std::to_string(seed);
    if (arm == "big") cell.tag = "large";
    cell.seed = seed;
    cell.overrides = {{"model.d_model", arm == "big" ? 64 : 32}};
    cell.status = status;
    if (!std::isnan(loss)) cell.metrics = {{"final_loss.valid", loss}, {"train_loss", loss + 1}};
    listing.cells.push_back(cell);
    listing.baseline.push_back(arm == "base");
    return *this;
  }

  std::vector<std::size_t> all() const {
    std::vector<std::size_t> rows(listing.cells.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
  }

  ArmComparison compare(const std::string& baseline = "") const {
    return compare_arms(listing, all(), baseline);
  }
};

/// The samples of statistics_test as two arms of four seeds and one of three others.
Cells three_arms() {
  Cells out;
  const double base[] = {2.3874, 2.3887, 2.3861, 2.3880};
  const double big[] = {2.3810, 2.3825, 2.3790, 2.3841};
  for (int s = 0; s < 4; ++s) out.add("base", s, base[s]);
  for (int s = 0; s < 4; ++s) out.add("big", s, big[s]);
  return out;
}

const ArmMetric& loss_of(const ArmComparison& comparison, std::size_t arm) {
  return comparison.arms.at(arm).metrics.at("final_loss.valid");
}

TEST(Arms, WithTheSameSeedsArePairedBySeed) {
  Cells cells = three_arms();
  std::swap(cells.listing.cells[4], cells.listing.cells[7]);  // pairs go by seed, not by row
  const ArmComparison comparison = cells.compare();
  ASSERT_EQ(comparison.arms.size(), 2U);
  EXPECT_TRUE(comparison.arms[0].baseline);
  EXPECT_FALSE(loss_of(comparison, 0).difference);
  EXPECT_EQ(comparison.arms[1].tag, "large");
  EXPECT_NEAR(loss_of(comparison, 1).sample.sd, 0.0021733231083604448, 1e-14);
  const MeanDifference d = loss_of(comparison, 1).difference.value();
  EXPECT_EQ(d.kind, DifferenceKind::Paired);
  EXPECT_NEAR(d.low, -0.008108688048162869, 1e-12);
  EXPECT_NEAR(d.high, -0.003691311951837164, 1e-12);
}

TEST(Arms, WithOtherSeedsAreIndependentSamples) {
  const ArmComparison comparison = three_arms()
                                       .add("other", 7, 2.40)
                                       .add("other", 8, 2.42)
                                       .add("other", 9, 2.37)
                                       .compare("other");
  const MeanDifference d = loss_of(comparison, 1).difference.value();
  EXPECT_EQ(d.kind, DifferenceKind::Welch);
  EXPECT_NEAR(d.low, -0.07704680914158418, 1e-10);
  EXPECT_NEAR(d.high, 0.04701347580825038, 1e-10);
}

TEST(Arms, ADivergedCellLeavesThePairsAndIsCounted) {
  Cells cells = three_arms();
  cells.listing.cells[6].status = CellStatus::Diverged;  // it keeps the loss of an earlier step
  const ArmComparison comparison = cells.compare();
  EXPECT_EQ(comparison.arms[1].missing(), 1U);
  EXPECT_EQ(comparison.arms[1].count(CellStatus::Diverged), 1U);
  EXPECT_EQ(loss_of(comparison, 1).sample.n, 3U);
  const MeanDifference d = loss_of(comparison, 1).difference.value();
  EXPECT_EQ(d.kind, DifferenceKind::Paired);  // the seeds of both arms are still the same
  EXPECT_EQ(d.n, 3U);
  EXPECT_NEAR(d.low, -0.008951074402257779, 1e-12);  // scipy, as in statistics_test
  EXPECT_NEAR(d.high, -0.002048925597742342, 1e-12);
  const std::string text = arms_text(cells.listing, comparison, {"final_loss.valid"});
  EXPECT_NE(text.find("1 of 8 cells are not in the means: 1 diverged\n"), std::string::npos)
      << text;
}

TEST(Arms, AreComparedWithTheArmOrTagThatIsNamed) {
  const Cells cells = three_arms();
  EXPECT_EQ(cells.compare().baseline, "base");
  EXPECT_EQ(cells.compare("large").baseline, "big");
  EXPECT_EQ(cells.compare("bi").baseline, "big");
  EXPECT_NEAR(loss_of(cells.compare("big"), 0).difference.value().value, 0.0059, 1e-12);
  EXPECT_THROW(cells.compare("b"), UserError);
  EXPECT_THROW(cells.compare("small"), UserError);
}

TEST(Arms, WithoutACellOfTheBaselineHaveNoDifferences) {
  const Cells cells = three_arms();
  const ArmComparison comparison = compare_arms(cells.listing, {4, 5, 6, 7});
  EXPECT_FALSE(comparison.baseline_selected);
  EXPECT_FALSE(loss_of(comparison, 0).difference);
  EXPECT_NE(arms_text(cells.listing, comparison, {"final_loss.valid"})
                .find("no differences: the filter leaves no cell of the baseline base\n"),
            std::string::npos);
}

TEST(ArmsReport, TheTableHasMeanSpreadAndTheDifferenceToTheBaseline) {
  Cells cells = three_arms();
  cells.add("one", 0, 2.5).add("none", 0, kNaN, CellStatus::Pending);
  EXPECT_EQ(
      arms_text(cells.listing, cells.compare(), {"final_loss.valid"}),
      "arm     tag    cells  missing    final_loss.valid  n         baseline  difference  95 % "
      "interval\n"
      "base *             4              2.3876 ± 0.0011  4\n"
      "big     large      4              2.3817 ± 0.0022  4  2.3876 ± 0.0011     -0.0059  "
      "[-0.0081, -0.0037]\n"
      "one                1                       2.5000  1           2.3874     +0.1126  -\n"
      "none               1  1 pending                 -  0\n"
      "* baseline\n"
      "mean ± standard deviation over the n seeds whose cells completed; beside a difference, in "
      "both arms: `baseline` is its mean over the same seeds\n"
      "difference of means, arm − baseline, with its 95 % t interval; paired by seed\n"
      "each interval holds for itself; of many arms, some differ by chance\n"
      "one: pairs of seed 0; left out, as completed in one of the two only: 1, 2, 3 (of base)\n"
      "1 of 10 cells are not in the means: 1 pending\n");
}

/// Arms of three seeds each whose leaves differ as given; the first is the baseline.
Cells evaluated(const ValueMap& base, const ValueMap& big) {
  Cells out;
  for (int s = 0; s < 3; ++s) out.add("base", s, 1.0 + s);
  for (int s = 0; s < 3; ++s) out.add("big", s, 1.5 + s);
  out.listing.leaves = {{base, big}, {0, 0, 0, 1, 1, 1}};
  return out;
}

TEST(ArmsReport, RefusesADifferenceOfOtherEvaluations) {
  const Cells cells =
      evaluated({{"eval.final_windows", Value()}}, {{"eval.final_windows", Value(16)}});
  const ArmComparison comparison = cells.compare();
  const ArmMetric& metric = loss_of(comparison, 1);
  EXPECT_FALSE(metric.difference);
  EXPECT_EQ(metric.refused.text(), "eval.final_windows is 16, in the baseline null");
  EXPECT_EQ(metric.sample.n, 3U) << "without a difference, all seeds are shown";
  const std::string text = arms_text(cells.listing, comparison, {"final_loss.valid"});
  EXPECT_NE(text.find("refused"), std::string::npos) << text;
  EXPECT_NE(text.find("no difference for big: final_loss.valid cannot be compared with "
                      "the baseline's: eval.final_windows is 16, in the baseline null\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("paired by seed"), std::string::npos) << text;
  EXPECT_TRUE(comparison.arms[1].metrics.at("train_loss").difference) << "of training batches";
  const auto json = parse_json(arms_json(cells.listing, comparison, {"final_loss.valid"}));
  const auto& of = json["arms"][1]["metrics"]["final_loss.valid"];
  EXPECT_TRUE(of["difference"].is_null());
  EXPECT_EQ(of["refused"]["differs"].dump(),
            R"([{"arm":16,"baseline":null,"what":"eval.final_windows"}])");
  const std::string csv = csv_of(arms_csv_table(comparison, {"final_loss.valid"}));
  EXPECT_NE(csv.find("\"eval.final_windows is 16, in the baseline null\""), std::string::npos)
      << csv;
}

TEST(ArmsReport, AnArmOfSeveralEvaluationsHasNoMean) {
  Cells cells = three_arms();
  for (CellSummary& cell : cells.listing.cells) cell.facts["split_digest.valid"] = 0xabc;
  cells.listing.cells[6].facts["split_digest.valid"] = 0xabd;  // of arm big
  ArmComparison comparison = cells.compare();
  EXPECT_EQ(loss_of(comparison, 0).sample.n, 4U);
  EXPECT_EQ(loss_of(comparison, 1).sample.n, 0U);
  EXPECT_FALSE(loss_of(comparison, 1).difference);
  const std::string text = arms_text(cells.listing, comparison, {"final_loss.valid"});
  EXPECT_NE(text.find("no mean for big: final_loss.valid is not of one evaluation in all seeds: "),
            std::string::npos)
      << text;
  EXPECT_EQ(comparison.arms[1].metrics.at("train_loss").sample.n, 4U) << "of training batches";
  comparison = cells.compare("big");  // nor is anything compared with it
  EXPECT_FALSE(loss_of(comparison, 0).difference);
}

TEST(ArmsReport, RefusesArmsWithoutACommonSeedLikewise) {
  Cells cells = evaluated({{"data.tokenizer", Value("byte")}}, {{"data.tokenizer", Value("gpt2")}});
  for (int s = 0; s < 3; ++s) cells.listing.cells[s].seed = 10 + s;
  const ArmMetric metric = loss_of(cells.compare(), 1);
  EXPECT_FALSE(metric.difference);
  EXPECT_EQ(metric.refused.text(), "data.tokenizer is gpt2, in the baseline byte");
  EXPECT_NE(metric.refused.advice.find("bits per byte"), std::string::npos);
}

TEST(Arms, ArePairedOnTheSeedsThatBothCompleted) {
  Cells cells;
  for (int s = 0; s < 4; ++s) cells.add("base", s, 1.0 + s);
  cells.add("big", 1, 2.1).add("big", 2, 3.3).add("big", 7, 9.0);
  cells.add("big", 3, 0.5, CellStatus::Diverged).add("big", 0, kNaN, CellStatus::Pending);
  const ArmComparison comparison = cells.compare();
  const ArmMetric& metric = loss_of(comparison, 1);
  ASSERT_TRUE(metric.difference);
  EXPECT_EQ(metric.difference->kind, DifferenceKind::Paired);
  EXPECT_EQ(metric.difference->n, 2U);
  EXPECT_NEAR(metric.difference->value, 0.2, 1e-12);
  EXPECT_EQ(metric.pairs, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(metric.left_out, std::vector<std::int64_t>{7});
  EXPECT_EQ(metric.baseline_left_out, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(metric.sample.n, 2U);
  EXPECT_NEAR(metric.sample.mean, 2.7, 1e-12);
  EXPECT_NEAR(metric.baseline.mean, 2.5, 1e-12);
  EXPECT_NEAR(metric.sample.mean - metric.baseline.mean, metric.difference->value, 1e-12)
      << "what is shown beside a difference is of the same cells";
  EXPECT_EQ(metric.all.n, 3U);
  EXPECT_EQ(
      arms_text(cells.listing, comparison, {"final_loss.valid"}),
      "arm     tag    cells  missing                final_loss.valid  n     baseline  "
      "difference  95 % interval\n"
      "base *             4                                2.5 ± 1.3  4\n"
      "big     large      5  1 diverged, 1 pending       2.70 ± 0.85  2  2.50 ± 0.71  "
      "     +0.20  [-1.1, +1.5]\n"
      "* baseline\n"
      "mean ± standard deviation over the n seeds whose cells completed; beside a difference, "
      "in both arms: `baseline` is its mean over the same seeds\n"
      "difference of means, arm − baseline, with its 95 % t interval; paired by seed\n"
      "big: pairs of seeds 1, 2; left out, as completed in one of the two only: 7, 0, 3 (of "
      "base)\n"
      "2 of 9 cells are not in the means: 1 diverged, 1 pending\n");
}

TEST(Arms, AFilterThatDropsACellOfOneArmLeavesThePairs) {
  Cells cells = three_arms();
  cells.listing.cells[6].status = CellStatus::Failed;
  const auto whole = loss_of(cells.compare(), 1).difference.value();
  const auto filtered =  // as by status = completed
      compare_arms(cells.listing, {0, 1, 2, 3, 4, 5, 7});
  const auto part = loss_of(filtered, 1).difference.value();
  EXPECT_EQ(part.kind, DifferenceKind::Paired);
  EXPECT_EQ(part.n, 3U);
  EXPECT_EQ(part.low, whole.low);
  EXPECT_EQ(part.high, whole.high);
}

TEST(Arms, OfTwoCellsWithOneSeedTheFirstCountsAndThatIsSaid) {
  Cells cells;
  cells.add("base", 0, 1.0).add("base", 1, 2.0).add("base", 1, 9.0);
  cells.add("big", 0, 1.5).add("big", 1, 2.5);
  const ArmComparison comparison = cells.compare();
  EXPECT_NEAR(loss_of(comparison, 0).sample.mean, 1.5, 1e-12);
  EXPECT_EQ(loss_of(comparison, 1).difference->n, 2U);
  EXPECT_NE(arms_text(cells.listing, comparison, {"final_loss.valid"})
                .find("1 cell of a seed that its arm has already: the first counts\n"),
            std::string::npos);
}

TEST(ArmsReport, OfMatchedArmsShowsWhatElseTheyCost) {
  Cells cells;
  cells.add("base", 0, 2).add("big", 0, 1);
  MatchedWidth width;
  width.arm = "big";
  width.reference = "base";
  width.leaf = "model.d_ff";
  width.value = 120;
  width.wanted = 1000;
  width.achieved = 1010;
  width.tolerance = 0.04;
  cells.listing.matched = {width};
  for (CellSummary& cell : cells.listing.cells) {
    cell.parameters = cell.arm == "big" ? 1010 : 1000;
    cell.metrics["cost_flops_token"] = cell.arm == "big" ? 3280 : 2000;
    cell.metrics["cost_wall_time"] = cell.arm == "big" ? 21 : 12.5;
  }
  EXPECT_EQ(arms_text(cells.listing, cells.compare(), {"final_loss.valid"}),
            "arm     tag    cells  parameters  cost_flops_token  cost_wall_time  final_loss.valid  "
            "n  difference  95 % interval\n"
            "base *             1       1,000         2000.0000         12.5000            2.0000  "
            "1\n"
            "big     large      1       1,010         3280.0000         21.0000            1.0000  "
            "1     -1.0000  -\n"
            "* baseline\n"
            "mean ± standard deviation over the n seeds whose cells completed\n"
            "difference of means, arm − baseline, with its 95 % t interval; paired by seed\n"
            "match: big has model.d_ff = 120: 1,010 parameters, +1 % of 1,000 of base (allowed: 4 "
            "%)\n");
}

TEST(ArmsReport, OperationsOfAnArmAreThoseOfAnyOfItsCells) {
  Cells cells;
  cells.add("base", 0, 2).add("big", 0, kNaN, CellStatus::Diverged);
  cells.listing.matched.emplace_back();
  for (CellSummary& cell : cells.listing.cells) cell.metrics["cost_flops_token"] = 3280;
  const std::string text = arms_text(cells.listing, cells.compare(), {"final_loss.valid"});
  const std::size_t arm = text.find("\nbig");
  EXPECT_NE(text.find("3280.0000", arm), std::string::npos) << text;
}

TEST(ArmsReport, SortsByMeanWithMissingOnesLast) {
  Cells cells = three_arms();
  cells.add("none", 0, kNaN, CellStatus::Pending);
  ArmComparison comparison = cells.compare();
  sort_arms(comparison, "final_loss.valid");
  EXPECT_EQ(comparison.arms[0].name, "big");
  EXPECT_EQ(comparison.arms[2].name, "none");
  sort_arms(comparison, "-arm");
  EXPECT_EQ(comparison.arms[0].name, "none");
  EXPECT_THROW(sort_arms(comparison, "seed"), UserError);
}

TEST(ArmsReport, CsvHasARowForEachArmAndMetric) {
  Cells cells;
  cells.add("base", 0, 2).add("base", 1, 4).add("big", 0, 1).add("big", 1, 3);
  EXPECT_EQ(csv_of(arms_csv_table(cells.compare(), {"final_loss.valid"})),
            "arm,tag,baseline,cells,completed,missing,metric,n,mean,sd,difference,low,high,degrees,"
            "pairs,kind,baseline_mean,left_out,baseline_left_out,refused\n"
            "base,,true,2,2,,final_loss.valid,2,3,1.4142135623730951,,,,,,,,,,\n"
            "big,large,false,2,2,,final_loss.valid,2,2,1.4142135623730951,-1,-1,-1,1,2,paired,3,,,"
            "\n");
}

TEST(ArmsReport, JsonIsTheDocumentedContract) {
  Cells cells;
  cells.add("base", 0, 2).add("big", 0, 1).add("big", 1, 3);
  EXPECT_EQ(arms_json(cells.listing, cells.compare(), {"final_loss.valid"}), R"({
  "schema": 1,
  "sweep": "sizes",
  "store": "results/sizes",
  "planned": true,
  "metric": "final_loss.valid",
  "goal": "minimize",
  "eval_windows": "disjoint",
  "older_text_rules": {},
  "mixed_settings": {},
  "by": "arm",
  "baseline": "base",
  "confidence": 0.95,
  "arms": [
    {
      "arm": "base",
      "tag": null,
      "baseline": true,
      "cells": 1,
      "counts": {
        "completed": 1,
        "diverged": 0,
        "running": 0,
        "pending": 0,
        "failed": 0,
        "oom": 0,
        "cancelled": 0
      },
      "seeds": [
        0
      ],
      "parameters": null,
      "overrides": {
        "model.d_model": 32
      },
      "metrics": {
        "final_loss.valid": {
          "n": 1,
          "mean": 2.0,
          "sd": null,
          "difference": null,
          "all": {
            "n": 1,
            "mean": 2.0,
            "sd": null
          },
          "refused": null
        }
      }
    },
    {
      "arm": "big",
      "tag": "large",
      "baseline": false,
      "cells": 2,
      "counts": {
        "completed": 2,
        "diverged": 0,
        "running": 0,
        "pending": 0,
        "failed": 0,
        "oom": 0,
        "cancelled": 0
      },
      "seeds": [
        0,
        1
      ],
      "parameters": null,
      "overrides": {
        "model.d_model": 64
      },
      "metrics": {
        "final_loss.valid": {
          "n": 1,
          "mean": 1.0,
          "sd": null,
          "difference": {
            "kind": "paired",
            "n": 1,
            "value": -1.0,
            "low": null,
            "high": null,
            "degrees": null,
            "baseline": {
              "n": 1,
              "mean": 2.0,
              "sd": null
            },
            "seeds": [
              0
            ],
            "measurements": 1,
            "left_out": {
              "arm": [
                1
              ],
              "baseline": []
            }
          },
          "all": {
            "n": 2,
            "mean": 2.0,
            "sd": 1.4142135623730951
          },
          "refused": null
        }
      }
    }
  ],
  "until_ci": []
}
)");
}

TEST(ArmsReport, MetricsAreChosenByNameOrPattern) {
  const ArmComparison comparison = three_arms().compare();
  EXPECT_EQ(arm_metrics(comparison, {}),
            (std::vector<std::string>{"final_loss.valid", "train_loss"}));
  EXPECT_EQ(arm_metrics(comparison, {"train_*"}), std::vector<std::string>{"train_loss"});
  EXPECT_EQ(arm_metrics(comparison, {"valid"}), std::vector<std::string>{"final_loss.valid"});
  EXPECT_THROW(arm_metrics(comparison, {"alias"}), UserError);
}

}  // namespace arms_test
}  // namespace depthgrid
