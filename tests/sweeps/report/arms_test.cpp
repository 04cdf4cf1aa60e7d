#include "sweeps/report/arms.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/report/arms_report.hpp"

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
      "arm     tag    cells  missing    final_loss.valid  n  difference  95 % interval\n"
      "base *             4              2.3876 ± 0.0011  4\n"
      "big     large      4              2.3817 ± 0.0022  4     -0.0059  [-0.0081, -0.0037]\n"
      "one                1                       2.5000  1     +0.1124  -\n"
      "none               1  1 pending                 -  0\n"
      "* baseline\n"
      "mean ± standard deviation over the n seeds whose cells completed\n"
      "difference of means, arm − baseline, with its 95 % t interval; paired by seed, or with "
      "other seeds Welch's (w)\n"
      "each interval holds for itself; of many arms, some differ by chance\n"
      "1 of 10 cells are not in the means: 1 pending\n");
}

TEST(ArmsReport, SaysThatLossesOfDifferentTextsCannotBeCompared) {
  Cells cells;
  cells.add("base", 0, 1.0).add("base", 1, 1.1).add("base@1", 0, 2.0).add("base@1", 1, 2.2);
  const auto text = [&cells] {
    return arms_text(cells.listing, cells.compare(), {"final_loss.valid"});
  };
  cells.listing.texts = {"self char256", "self char256", "self char256", "self char256"};
  EXPECT_EQ(text().find("different texts"), std::string::npos);
  EXPECT_NE(text().find("ARM@N: as it was in plan N of the store"), std::string::npos);
  cells.listing.texts[2] = cells.listing.texts[3] = "wikitext-2 char256";
  EXPECT_NE(
      text().find("these arms are of different texts or tokenisers, so their losses cannot be "
                  "compared: self char256; wikitext-2 char256"),
      std::string::npos);
}

TEST(ArmsReport, SortsByMeanWithMissingOnesLast) {
  Cells cells = three_arms();
  cells.add("none", 0, kNaN, CellStatus::Pending);
  ArmComparison comparison = cells.compare();
  sort_arms(comparison, "final_loss.valid");
  EXPECT_EQ(comparison.arms[0].arm, "big");
  EXPECT_EQ(comparison.arms[2].arm, "none");
  sort_arms(comparison, "-arm");
  EXPECT_EQ(comparison.arms[0].arm, "none");
  EXPECT_THROW(sort_arms(comparison, "seed"), UserError);
}

TEST(ArmsReport, CsvHasARowForEachArmAndMetric) {
  Cells cells;
  cells.add("base", 0, 2).add("base", 1, 4).add("big", 0, 1).add("big", 1, 3);
  EXPECT_EQ(csv_of(arms_csv_table(cells.compare(), {"final_loss.valid"})),
            "arm,tag,baseline,cells,completed,missing,metric,n,mean,sd,difference,low,high,degrees,"
            "pairs,kind\n"
            "base,,true,2,2,,final_loss.valid,2,3,1.4142135623730951,,,,,,\n"
            "big,large,false,2,2,,final_loss.valid,2,2,1.4142135623730951,-1,-1,-1,1,2,paired\n");
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
      "overrides": {
        "model.d_model": 32
      },
      "metrics": {
        "final_loss.valid": {
          "n": 1,
          "mean": 2.0,
          "sd": null,
          "difference": null
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
      "overrides": {
        "model.d_model": 64
      },
      "metrics": {
        "final_loss.valid": {
          "n": 2,
          "mean": 2.0,
          "sd": 1.4142135623730951,
          "difference": {
            "kind": "welch",
            "n": 1,
            "value": 0.0,
            "low": null,
            "high": null,
            "degrees": null
          }
        }
      }
    }
  ]
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
