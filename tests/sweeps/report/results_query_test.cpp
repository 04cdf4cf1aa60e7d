#include "sweeps/report/results_query.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/report/status_report.hpp"
#include "tests/sweeps/report/evaluated_arms.hpp"

namespace depthgrid {
namespace results_query_test {

CellSummary cell(const std::string& id, std::int64_t hidden, std::int64_t seed, CellStatus status) {
  CellSummary c;
  c.id = id;
  c.arm = "hidden=" + std::to_string(hidden);
  c.alias = c.arm + ",s" + std::to_string(seed);
  if (hidden == 64) c.tag = "wide";
  c.seed = seed;
  c.overrides = {{"model.modulation.hidden", hidden}};
  c.status = status;
  return c;
}

/// Two completed cells, a diverged one and one that has not begun.
Listing four_cells() {
  Listing listing;
  listing.sweep = "h_mod";
  listing.store = "results/h_mod";
  listing.metric = "eval_loss.valid";
  listing.goal = "minimize";
  listing.cells = {cell("aaaaaaaaaaaa", 32, 0, CellStatus::Completed),
                   cell("bbbbbbbbbbbb", 64, 0, CellStatus::Completed),
                   cell("cccccccccccc", 32, 1, CellStatus::Diverged),
                   cell("dddddddddddd", 64, 1, CellStatus::Pending)};
  listing.baseline = {true, false, true, false};
  for (const std::size_t row : {0, 1}) {
    listing.cells[row].step = 100;
    listing.cells[row].parameters = 715840;
    listing.cells[row].attempts = 1;
  }
  listing.cells[0].metrics = {{"eval_loss.valid", 2.5}, {"train_loss", 2.25}};
  listing.cells[1].metrics = {{"eval_loss.valid", 2.125}, {"train_loss", 2.0}};
  listing.cells[2].step = 17;
  listing.cells[2].attempts = 1;
  listing.cells[2].metrics = {{"train_loss", 9.0}};
  return listing;
}

using Rows = std::vector<std::size_t>;

TEST(ResultsQuery, SortsByAMetricWithMissingValuesLast) {
  const Listing listing = four_cells();
  EXPECT_EQ(select_cells(listing, {"eval_loss.valid", ""}), (Rows{1, 0, 2, 3}));
  EXPECT_EQ(select_cells(listing, {"-eval_loss.valid", ""}), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(select_cells(listing, {"-train_loss", ""}), (Rows{2, 0, 1, 3}));
}

TEST(ResultsQuery, SortsByLeavesAndColumnsKeepingTheFilesOrder) {
  const Listing listing = four_cells();
  EXPECT_EQ(select_cells(listing, {"hidden", ""}), (Rows{0, 2, 1, 3}));
  EXPECT_EQ(select_cells(listing, {"-seed", ""}), (Rows{2, 3, 0, 1}));
  EXPECT_EQ(select_cells(listing, {"status", ""}), (Rows{0, 1, 2, 3}));
}

TEST(ResultsQuery, FiltersByLeavesMetricsAndStatus) {
  const Listing listing = four_cells();
  EXPECT_EQ(select_cells(listing, {"", "hidden = 64"}), (Rows{1, 3}));
  EXPECT_EQ(select_cells(listing, {"", "valid < 2.3 or status = diverged"}), (Rows{1, 2}));
  EXPECT_EQ(select_cells(listing, {"", "parameters = null"}), (Rows{2, 3}));
  EXPECT_EQ(select_cells(listing, {"", "baseline = true and seed = 0"}), Rows{0});
}

TEST(ResultsQuery, FractionsAreReadAsFilesHaveThem) {
  Listing listing = four_cells();
  for (const std::size_t row : {0, 2}) {
    listing.cells[row].overrides.emplace_back("model.residual.scale", 1.0 / 6);
  }
  EXPECT_EQ(select_cells(listing, {"", "scale = 1/6"}), (Rows{0, 2}));
  EXPECT_EQ(select_cells(listing, {"", "scale > '1/7'"}), (Rows{0, 2}));
  EXPECT_TRUE(select_cells(listing, {"", "scale = 1/L"}).empty()) << "no layers are known";
  listing.constant = {{"model.n_layers", 6}};
  EXPECT_EQ(select_cells(listing, {"", "scale = 1/L"}), (Rows{0, 2}));
  listing.constant = {{"model.n_layers", 4}};
  EXPECT_TRUE(select_cells(listing, {"", "scale = 1/L"}).empty());
  EXPECT_EQ(results_table(listing, {0}, {"model.residual.scale"}).rows[0][0], "1/6");
  EXPECT_EQ(results_csv_table(listing, {0}, {"model.residual.scale"}).rows[0][0],
            shortest(1.0 / 6));
}

TEST(ResultsQuery, FiltersByArmTagAndPatterns) {
  const Listing listing = four_cells();
  EXPECT_EQ(select_cells(listing, {"", "arm = 'hidden=64'"}), (Rows{1, 3}));
  EXPECT_EQ(select_cells(listing, {"", "tag = wide and status = completed"}), Rows{1});
  EXPECT_EQ(select_cells(listing, {"", "tag = null"}), (Rows{0, 2}));
  EXPECT_EQ(select_cells(listing, {"", "alias = *s1"}), (Rows{2, 3}));
  EXPECT_EQ(select_cells(listing, {"", "alias != 'hidden=3?,*'"}), (Rows{1, 3}));
}

TEST(ResultsQuery, ColumnsAreChosenByNameEndOrPattern) {
  const std::vector<std::string> names = query_names(four_cells());
  EXPECT_EQ(resolve_columns({"hidden", "arm", "*loss*", "train_loss"}, names),
            (std::vector<std::string>{"model.modulation.hidden", "arm", "eval_loss.valid",
                                      "train_loss"}));
  EXPECT_THROW(resolve_columns({"nothing*"}, names), UserError);
  EXPECT_EQ(text_of(results_table(four_cells(), {1, 3},
                                  {"arm", "model.modulation.hidden", "train_loss"})),
            "arm        model.modulation.hidden  train_loss\n"
            "hidden=64                       64      2.0000\n"
            "hidden=64                       64           -\n");
  EXPECT_EQ(csv_of(results_csv_table(four_cells(), {1}, {"tag", "train_loss"})),
            "tag,train_loss\nwide,2\n");
  const std::string json = results_json(four_cells(), {1}, {"train_loss"});
  EXPECT_EQ(json.find("\"eval_loss.valid\":"), std::string::npos) << json;
}

TEST(ResultsQuery, AnUnknownNameIsAUsageError) {
  EXPECT_THROW(select_cells(four_cells(), {"loss", ""}), UserError);
}

TEST(ResultsQuery, TheTableMarksTheBaselineAndPutsTheSweepsMetricFirst) {
  const Listing listing = four_cells();
  EXPECT_EQ(text_of(results_table(listing, {0, 1, 3})),
            "cell          alias           arm        tag   status     step  parameters  "
            "eval_loss.valid  "
            "train_loss\n"
            "aaaaaaaaaaaa  hidden=32,s0 *  hidden=32        completed   100     715,840           "
            "2.5000  "
            "    2.2500\n"
            "bbbbbbbbbbbb  hidden=64,s0    hidden=64  wide  completed   100     715,840           "
            "2.1250  "
            "    2.0000\n"
            "dddddddddddd  hidden=64,s1    hidden=64  wide  pending       0           -            "
            "    -  "
            "         -\n");
}

TEST(ResultsQuery, WithMatchedArmsTheTableShowsWhatTheyCost) {
  Listing listing = four_cells();
  listing.matched.emplace_back();
  listing.cells[0].metrics["cost_flops_token"] = 39936;
  listing.cells[0].metrics["cost_wall_time"] = 12.5;
  EXPECT_EQ(text_of(results_table(listing, {0})),
            "cell          alias           arm        tag  status     step  parameters  "
            "cost_flops_token  cost_wall_time  eval_loss.valid  train_loss\n"
            "aaaaaaaaaaaa  hidden=32,s0 *  hidden=32       completed   100     715,840  "
            "      39936.0000         12.5000           2.5000      2.2500\n");
}

TEST(ResultsQuery, WhereCellsSkipTokensTheirCostsAreOfWhatIsExecutedToo) {
  Listing listing = four_cells();
  listing.matched.emplace_back();
  for (CellSummary& cell : listing.cells) {
    cell.metrics["cost_flops_token"] = cell.metrics["cost_flops_token_executed"] = 36864;
  }
  EXPECT_EQ(cost_metrics(listing),
            (std::vector<std::string>{"cost_flops_token", "cost_wall_time"}));
  listing.cells[2].metrics["cost_flops_token_executed"] = 30000;
  EXPECT_EQ(cost_metrics(listing),
            (std::vector<std::string>{"cost_flops_token", "cost_flops_token_executed",
                                      "cost_flops_total", "cost_wall_time"}));
}

TEST(ResultsQuery, JsonNamesWhatIsNotOfOneEvaluation) {
  Listing listing = evaluated_arms({{}, {{"eval.final_windows", 16}}});
  for (CellSummary& cell : listing.cells) cell.metrics = {{"final_loss.valid", 2.0}};
  const auto json = parse_ordered_json(results_json(listing, {0, 1}));
  EXPECT_EQ(json["not_comparable"].dump(),
            R"([{"metrics":["final_loss.valid"],"what":"eval.final_windows","values":[null,16]}])");
}

TEST(ResultsQuery, CsvHoldsEveryLeafAndMetric) {
  EXPECT_EQ(csv_of(results_csv_table(four_cells(), {1, 3})),
            "id,alias,arm,tag,seed,baseline,status,step,parameters,attempts,in_plan,plan,"
            "model.modulation.hidden,eval_loss.valid,train_loss\n"
            "bbbbbbbbbbbb,\"hidden=64,s0\",hidden=64,wide,0,false,completed,100,715840,1,true,1,64,"
            "2.125,2\n"
            "dddddddddddd,\"hidden=64,s1\",hidden=64,wide,1,false,pending,0,,0,true,1,64,,\n");
}

TEST(ResultsQuery, JsonIsTheDocumentedContract) {
  EXPECT_EQ(results_json(four_cells(), {1, 3}), R"({
  "schema": 1,
  "sweep": "h_mod",
  "store": "results/h_mod",
  "planned": true,
  "metric": "eval_loss.valid",
  "goal": "minimize",
  "eval_windows": "disjoint",
  "older_text_rules": {},
  "mixed_settings": {},
  "not_comparable": [],
  "not_shown": 0,
  "cells": [
    {
      "id": "bbbbbbbbbbbb",
      "alias": "hidden=64,s0",
      "arm": "hidden=64",
      "tag": "wide",
      "seed": 0,
      "baseline": false,
      "overrides": {
        "model.modulation.hidden": 64
      },
      "in_plan": true,
      "status": "completed",
      "step": 100,
      "parameters": 715840,
      "settings": null,
      "metrics": {
        "eval_loss.valid": 2.125,
        "train_loss": 2.0
      },
      "withheld": []
    },
    {
      "id": "dddddddddddd",
      "alias": "hidden=64,s1",
      "arm": "hidden=64",
      "tag": "wide",
      "seed": 1,
      "baseline": false,
      "overrides": {
        "model.modulation.hidden": 64
      },
      "in_plan": true,
      "status": "pending",
      "step": 0,
      "parameters": null,
      "settings": null,
      "metrics": {},
      "withheld": []
    }
  ]
}
)");
}

TEST(StatusReport, CountsStatesAndListsProblems) {
  Listing listing = four_cells();
  EXPECT_EQ(status_code(listing), ExitCode::Unfinished);
  EXPECT_EQ(
      status_text(listing),
      "h_mod: 4 cells, store results/h_mod\n"
      "state      cells\n"
      "completed      2\n"
      "diverged       1\n"
      "pending        1\n"
      "\nproblems\n"
      "cell          alias         state     attempts  problem\n"
      "cccccccccccc  hidden=32,s1  diverged         1  diverged at step 17, training loss 9; see "
      "depthgrid logs\n");
}

TEST(StatusReport, ADivergedCellIsAResultAndAFailedOneIsNot) {
  Listing listing = four_cells();
  listing.cells[3].status = CellStatus::Completed;
  EXPECT_EQ(status_code(listing), ExitCode::Done);
  for (const CellStatus failure : {CellStatus::Failed, CellStatus::Oom, CellStatus::Cancelled}) {
    listing.cells[3].status = failure;
    EXPECT_EQ(status_code(listing), ExitCode::Partial);
  }
  listing.cells[0].status = CellStatus::Running;
  EXPECT_EQ(status_code(listing), ExitCode::Unfinished);
}

TEST(StatusReport, JsonHasEveryState) {
  const std::string json = status_json(four_cells());
  for (const char* part :
       {"\"schema\": 1", "\"completed\": 2", "\"failed\": 0", "\"cancelled\": 0", "\"oom\": 0",
        "\"running\": 0", "\"finished\": false", "\"cells\": 4",
        "\"problem\": \"diverged at step 17, training loss 9; see depthgrid logs\""}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(ResultsQuery, CellsOfOtherPlansAreLeftOutAndCounted) {
  Listing listing = four_cells();
  EXPECT_EQ(other_plans_text(listing), "");
  listing.cells[0].in_plan = listing.cells[3].in_plan = false;
  EXPECT_EQ(other_plans_text(listing), "2 cells of other plans (1 with a result)");

  EXPECT_EQ(keep_plan(listing), 2U);

  ASSERT_EQ(listing.cells.size(), 2U);
  EXPECT_EQ(listing.cells[0].id, "bbbbbbbbbbbb");
  EXPECT_EQ(listing.baseline, (std::vector<bool>{false, true}));
  EXPECT_EQ(listing.not_shown, 2U);
}

}  // namespace results_query_test
}  // namespace depthgrid
