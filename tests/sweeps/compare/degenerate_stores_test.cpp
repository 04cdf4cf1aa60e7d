#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sweeps/compare/compare_report.hpp"
#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace degenerate_stores_test {

// The table of docs/comparing.md, Where there is nothing to say.

using Json = nlohmann::json;
using Answer = CompareAnswer;

TEST(DegenerateStores, OfOneSeedThereIsNoP) {
  const Answer of = answer_by(widths(1), {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "one seed") && has(of.sentence(), "seeds: 5")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  expect_no_p(of);
  EXPECT_EQ(entry(of.csv, 1, "n"), "1");
  EXPECT_EQ(of.json["effects"][0]["groups"][1]["contrast"]["difference"]["n"], 1);
  EXPECT_NEAR(of.json["effects"][0]["groups"][1]["contrast"]["difference"]["mean"], -0.022, 1e-12);
  EXPECT_TRUE(of.json["effects"][0]["groups"][1]["contrast"]["difference"]["interval"].is_null());
  const Answer both =
      answer_by(GridCells().grid(two_factors(), 1, two_factor_figure), {"d_model", "lr"});
  expect_no_p(both);
}

TEST(DegenerateStores, OfOneSeedInBothSidesThereIsNoPUntilTheOthersFinish) {
  GridCells cells = widths();
  for (CellSummary& cell : cells.listing.cells) {
    if (cell.seed > 0) cell.status = CellStatus::Running;
  }
  Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "one seed")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Unfinished);
  EXPECT_EQ(static_cast<int>(of.problem->code), 3);
  expect_no_p(of);
  EXPECT_TRUE(has(line_of(of.text, "32"), "4 running")) << of.text;
  for (CellSummary& cell : cells.listing.cells) {
    if (cell.seed > 0) cell.status = CellStatus::Failed;
  }
  EXPECT_EQ(answer_by(cells, {"d_model"}).problem->code, ExitCode::Partial);
}

TEST(DegenerateStores, OneArmHasNothingBesideIt) {
  const Answer of = answer_by(GridCells().arm("base", {1, 2, 3}).baseline("base"), {});
  EXPECT_TRUE(has(of.sentence(), "one group")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  EXPECT_EQ(static_cast<int>(of.problem->code), 4);
  expect_no_p(of);
}

TEST(DegenerateStores, WithoutABaselineNoContrastHasAP) {
  const Answer of = answer_by(GridCells().arm("a", {1, 2, 3}).arm("b", {2, 2, 3}), {});
  EXPECT_TRUE(has(of.sentence(), "--baseline NAME")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  for (const Json& group : of.json["effects"][0]["groups"]) {
    EXPECT_TRUE(group["contrast"].is_null());
    EXPECT_EQ(group["all"]["n"], 3);
  }
  EXPECT_EQ(entry(of.csv, 1, "p"), "");
}

TEST(DegenerateStores, ABaselineThatTheFilterRemovesIsNamed) {
  GridCells cells = widths();
  cells.baseline("16");
  ComparisonQuery query;
  query.by = {"d_model"};
  const Answer one = answer(cells, query, {5, 6, 7, 8, 9});
  EXPECT_TRUE(has(one.sentence(), "one group")) << one.sentence();
  const Answer two = answer(cells, query, {5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  EXPECT_EQ(two.sentence(),
            "the filter leaves no cell of 16, the sweep's baseline: --baseline NAME compares with "
            "another one");
  EXPECT_EQ(two.problem->code, ExitCode::Partial);
  query.baseline = "16";
  EXPECT_EQ(answer(cells, query, {5, 6, 7, 8, 9, 10, 11, 12, 13, 14}).sentence(),
            "the filter leaves no cell of 16, which --baseline names");
}

TEST(DegenerateStores, OfTwoStoresWithTheSameCellsThatIsSaid) {
  GridCells one({}, "results/a"), other({}, "results/b");
  for (GridCells* cells : {&one, &other}) {
    cells->arm("base", {2.0, 2.1, 2.3}).arm("big", {1.9, 2.2, 2.1}).baseline("base");
  }
  GridCells both;
  both.listing = listing_union({one.listing, other.listing});
  const Answer arms = answer_by(both, {"arm"});
  EXPECT_FALSE(arms.problem) << "each counts once";
  EXPECT_TRUE(has(arms.text, "6 cells are in more than one of the stores: each counts once\n"))
      << arms.text;
  EXPECT_EQ(arms.json["repeated"], 6);
  const Answer stores = answer_by(both, {"store"});
  EXPECT_TRUE(
      has(stores.sentence(), "all cells of results/b are in the other stores, too, and count once"))
      << stores.sentence();
  EXPECT_EQ(stores.problem->code, ExitCode::Partial);
  EXPECT_FALSE(has(answer_by(one, {"arm"}).text, "more than one of the stores"));
}

TEST(DegenerateStores, UnequalSeedsAreComparedWithoutAP) {
  GridCells cells = widths();
  for (std::size_t row = 5; row < 15; ++row) cells.listing.cells[row].seed += 10 * (row / 5);
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "no seed")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  expect_no_p(of);
  EXPECT_TRUE(line_of(of.text, "32").ends_with("] w - - -")) << line_of(of.text, "32");
  const Json& contrast = of.json["effects"][0]["groups"][1]["contrast"];
  EXPECT_NEAR(contrast["unpaired"]["mean"], -0.0234, 1e-12);
  EXPECT_TRUE(contrast["difference"]["mean"].is_null());
  EXPECT_NEAR(std::stod(entry(of.csv, 1, "difference")), -0.0234, 1e-12);
}

GridCells without_variance() {
  return GridCells().grid({two_factors()[0]}, 5, [](const auto& at, std::int64_t seed) {
    return 2.0 + static_cast<double>(at[0]) + static_cast<double>(seed);
  });
}

TEST(DegenerateStores, DifferencesThatDoNotVaryHaveNoP) {
  const Answer of = answer_by(without_variance(), {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "varies")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  EXPECT_EQ(line_of(of.text, "32"), "32 5 5.0 ± 1.6 5 +1.0000 [+1.0000, +1.0000] - - -");
  const Json& contrast = of.json["effects"][0]["groups"][1]["contrast"];
  EXPECT_TRUE(contrast["difference"]["p"].is_null() && contrast["holm_p"].is_null());
  EXPECT_TRUE(contrast["verdict"].is_null());
  EXPECT_EQ(of.json["family"], 0);
}

TEST(DegenerateStores, DifferencesThatDoNotVaryHaveNoPInAnything) {
  const Answer of = answer_by(without_variance(), {"d_model"});
  expect_no_p(of);
  EXPECT_FALSE(has(of.text, "nan")) << of.text;
}

TEST(DegenerateStores, WithoutAFigureOfTheMetricThereIsNone) {
  GridCells cells;
  cells.grid({two_factors()[0]}, 5, [](const auto&, std::int64_t) { return kNaN; });
  Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "15") && has(of.sentence(), "final_loss.valid")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  expect_no_p(of);
  for (CellSummary& cell : cells.listing.cells) cell.metrics["final_loss.valid"] = kNaN;
  of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "final_loss.valid")) << of.sentence();
  expect_no_p(of);
}

TEST(DegenerateStores, WhereAllDivergedThatIsSaid) {
  GridCells cells = widths();
  set_status(cells, CellStatus::Diverged);
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "15 diverged")) << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  expect_no_p(of);
  EXPECT_TRUE(has(line_of(of.text, "64"), "5 diverged")) << of.text;
  EXPECT_EQ(of.json["effects"][0]["groups"][2]["diverged"], 5);
  EXPECT_EQ(entry(of.csv, 2, "missing"), "5");
}

TEST(DegenerateStores, WhereNothingHasFinishedRunIsNamed) {
  GridCells cells = widths();
  set_status(cells, CellStatus::Pending);
  cells.listing.cells[3].status = CellStatus::Running;
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "14 pending") && has(of.sentence(), "1 running")) << of.sentence();
  EXPECT_TRUE(has(of.sentence(), "depthgrid run"));
  EXPECT_EQ(of.problem->code, ExitCode::Unfinished);
  expect_no_p(of);
  const Answer none = answer(cells, {}, {});
  EXPECT_NE(none.sentence(), "");
  EXPECT_EQ(none.problem->code, ExitCode::Partial);
}

/// As after `run FILE --set …`: the plan of the file is not the newest.
TEST(DegenerateStores, ResultsOfOtherPlansAreNamed) {
  GridCells cells = widths(2);
  for (std::size_t row = 0; row < 6; ++row) {
    cells.listing.cells[row].in_plan = row < 3;
    if (row < 3) cells.listing.cells[row].status = CellStatus::Pending;
  }
  cells.listing.cells[5].status = CellStatus::Failed;
  keep_plan(cells.listing);
  const Answer of = answer_by(cells, {"arm"});
  EXPECT_EQ(of.sentence(),
            "no cell has completed: 3 pending; depthgrid run trains them; 2 cells of other plans "
            "have a result: --all-plans compares them");
  cells.listing.results_not_shown = 0;
  EXPECT_FALSE(has(answer_by(cells, {"arm"}).sentence(), "--all-plans"));
}

TEST(DegenerateStores, ACellWhoseResultIsDamagedIsMissingAndTheOthersAreCompared) {
  GridCells cells = widths();
  CellSummary& cell = cells.at("32", 3);
  cell.status = CellStatus::Pending;  // as it is read, and trained again
  cell.metrics.clear();
  cell.damage = "result.h5: too short for a sealed file";
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_FALSE(of.problem);
  EXPECT_TRUE(has(line_of(of.text, "32 "), "1 pending")) << of.text;
  EXPECT_EQ(entry(of.csv, 1, "missing"), "1");
  EXPECT_EQ(entry(of.csv, 1, "seeds"), "0 1 2 4");
}

TEST(DegenerateStores, ACellWhoseDamagedResultIsPackedIsCompared) {
  GridCells cells = widths();
  cells.at("32", 3).damage = "result.h5: too short; the numbers are those of sweep.h5";
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_FALSE(of.problem);
  EXPECT_EQ(entry(of.csv, 1, "missing"), "0");
  EXPECT_EQ(entry(of.csv, 1, "seeds"), "0 1 2 3 4");
}

TEST(DegenerateStores, ResultsOfAnOlderReleaseAreComparedWithWhatIsKnownOfThem) {
  GridCells cells = widths();
  for (CellSummary& cell : cells.listing.cells) {
    if (cell.overrides.front().second == Value(16)) continue;  // older: no version, no facts
    cell.code = "2.0";
    cell.facts = {{"split_digest.valid", 7}, {"split_digest.train", 8}};
  }
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_FALSE(of.problem) << of.sentence();
  EXPECT_EQ(entry(of.csv, 1, "refused"), "");
  EXPECT_EQ(entry(of.csv, 1, "verdict"), "differs");
}

TEST(DegenerateStores, AMetricThatSeesTheFutureIsMarkedInAllOutputs) {
  GridCells cells = widths();
  cells.listing.metric = "final_loss_mode.teacher_topk";
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics[cells.listing.metric] = cell.metrics.at("final_loss.valid");
  }
  const auto expect_marked = [&cells](bool marked) {
    const Answer of = answer_by(cells, {"d_model"});
    EXPECT_EQ(has(of.text, "of a pass that sees later tokens: no figure of a language model"),
              marked)
        << of.text;
    EXPECT_EQ(of.json["sees_future"], marked);
    for (std::size_t row = 0; row < of.csv.rows.size(); ++row) {
      EXPECT_EQ(entry(of.csv, row, "sees_future"), marked ? "true" : "false");
    }
  };
  expect_marked(false);
  for (CellSummary& cell : cells.listing.cells) {
    cell.facts["eval_mode_noncausal.teacher_topk"] = 1;
  }
  expect_marked(true);
  cells.listing.metric = "final_loss.valid";
  expect_marked(false);
}

TEST(DegenerateStores, ABaselineThatHasNotCompletedHasNoPairs) {
  GridCells cells = widths();
  for (int seed = 0; seed < 5; ++seed) cells.at("16", seed).status = CellStatus::Oom;
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.sentence(), "no seed")) << of.sentence();
  EXPECT_TRUE(has(line_of(of.text, "16 *"), "5 oom")) << of.text;
  EXPECT_TRUE(has(of.text, "0, 1, 2, 3, 4 of it alone")) << of.text;
  for (const Json& group : of.json["effects"][0]["groups"]) {
    EXPECT_TRUE(group["contrast"].is_null() || group["contrast"]["verdict"].is_null());
  }
}

TEST(DegenerateStores, OfAMetricThatIsMaximizedHigherIsBetter) {
  GridCells cells = widths();
  EXPECT_TRUE(answer_by(cells, {"d_model"}).text.starts_with("final_loss.valid (nat): lower"));
  cells.listing.goal = "maximize";
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(of.text.starts_with("final_loss.valid (nat): higher")) << of.text;
  EXPECT_EQ(of.json["goal"], "maximize");
  EXPECT_EQ(of.json["effects"][0]["groups"][1]["contrast"]["improved"]["share"], 0);
  GridCells one = widths(1);
  one.listing.goal = "maximize";
  expect_no_p(answer_by(one, {"d_model"}));
}

}  // namespace degenerate_stores_test
}  // namespace depthgrid
