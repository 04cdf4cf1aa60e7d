#include "sweeps/compare/compare_report.hpp"

#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace compare_report_test {

using Json = nlohmann::json;
using Answer = CompareAnswer;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CompareReport, AContrastWithAPIsNoProblem) {
  const Answer of = answer_by(widths(), {"d_model"});
  EXPECT_FALSE(of.problem);
  std::vector<std::string> tests;
  collect_tests(of.json, "", tests);
  EXPECT_FALSE(tests.empty()) << "expect_no_p() sees them";
}

TEST(CompareReport, WhatIsRefusedIsNamedWithWhatAllowsIt) {
  GridCells cells = widths();
  for (std::size_t row = 0; row < 15; ++row) cells.listing.cells[row].code = row < 5 ? "1" : "2";
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(
      has(of.sentence(), "cannot be compared: the program is 2, in the baseline 1; --allow code"))
      << of.sentence();
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
  expect_no_p(of);
  EXPECT_TRUE(has(of.text, "is 2, in the baseline 1") && has(of.text, "--allow code")) << of.text;
  EXPECT_TRUE(has(line_of(of.text, "32"), "refused"));
  const Json& refused = of.json["effects"][0]["groups"][1]["contrast"]["refused"];
  EXPECT_EQ(refused["differs"][0]["group"], "2");
  EXPECT_EQ(refused["differs"][0]["baseline"], "1");
  EXPECT_TRUE(has(refused["advice"], "--allow code"));
  EXPECT_TRUE(has(entry(of.csv, 1, "refused"), "is 2, in the baseline 1"));
  EXPECT_TRUE(has(of.json["variance"][0]["refused"], "--allow code"));
}

TEST(CompareReport, TheTextHasEffectsEvidenceAndShares) {
  ComparisonQuery query;
  query.by = {"d_model", "lr"};
  query.margin = 0.06;
  const GridCells cells = two_factor_grid();
  const std::string text = answer(cells, query, cells.rows()).text;
  // The numbers of compare_test.cpp; ttost_paired(m[1], m[0], -.06, .06): p = .00023
  EXPECT_EQ(line_of(text, "32 "),
            "32 10 2.373 ± 0.011 5 -0.0343 [-0.0411, -0.0275] .00015 .00030 no effect beyond 0.06");
  EXPECT_EQ(
      line_of(text, "0.2"),
      "0.2 15 2.363 ± 0.016 5 -0.0318 [-0.0392, -0.0244] .00028 .00030 no effect beyond 0.06");
  EXPECT_TRUE(has(text, "exploratory") && has(text, "at train.lr = 0.1")) << text;
  EXPECT_TRUE(has(text, "η² 0.469, ω² 0.45, F(2, 8) 350.7, p <.0001")) << text;
  EXPECT_TRUE(has(text, "η² 0.0618, ω² 0.0551, F(2, 8) 13.63, p .0027")) << text;
  EXPECT_TRUE(has(text, "3 contrasts") && has(text, "± 0.06")) << text;
  EXPECT_FALSE(has(text, "nan"));
}

TEST(CompareReport, IntervalsOfFewSeedsHaveACaution) {
  GridCells cells;
  cells.arm("base", {2.0, 2.1, 2.2, 2.3}).baseline("base").arm("other", {2.5, 1.8, 2.6, 2.1});
  EXPECT_FALSE(has(answer_by(cells, {"arm"}).text, "is wide"));
  cells.arm("fewer", {2.5, 1.8, 2.6});
  EXPECT_TRUE(has(answer_by(cells, {"arm"}).text, "interval of 3 seeds is wide"));
}

TEST(CompareReport, WhatWasLeftOutIsCounted) {
  GridCells cells = two_factor_grid();
  cells.at("32,0.2", 4).status = CellStatus::Diverged;
  for (const char* arm : {"64,0.1", "64,0.2"}) cells.at(arm, 2).status = CellStatus::Failed;
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(line_of(of.text, "32:"), "1 cell ")) << of.text;
  EXPECT_TRUE(has(line_of(of.text, "64:"), "2 of 16 alone")) << of.text;
  EXPECT_TRUE(has(line_of(of.text, "32 "), "1 diverged")) << of.text;
  const Json& left = of.json["effects"][0]["groups"][1]["contrast"]["left_out"];
  EXPECT_EQ(left["cells"], Json::array({cells.at("16,0.2", 4).id}));
  const Json& other = of.json["effects"][0]["groups"][2]["contrast"];
  EXPECT_EQ(other["left_out"]["baseline"], Json::array({2}));
  EXPECT_EQ(other["seeds"], Json::array({0, 1, 3, 4}));
  EXPECT_EQ(entry(of.csv, 2, "seeds"), "0 1 3 4");
}

TEST(CompareReport, TheBaselinesMeanIsShownWhereADifferenceIsToOtherCells) {
  const std::string all = answer_by(two_factor_grid(), {"d_model"}).text;
  EXPECT_FALSE(has(all, "baseline:")) << all;
  GridCells cells = two_factor_grid();  // width 64 has the second rate only, as by `when:`
  for (int seed = 0; seed < 5; ++seed) cells.at("64,0.1", seed).status = CellStatus::Failed;
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.text, "baseline  difference")) << of.text;
  // m[0].mean(), y[0, 1].mean() and y[2, 1].mean() of compare_test.cpp's y
  EXPECT_TRUE(has(line_of(of.text, "16 *"), " 2.407 ± ")) << of.text;
  EXPECT_TRUE(has(line_of(of.text, "32 "), " 5 2.407 ± ")) << line_of(of.text, "32 ");
  EXPECT_TRUE(has(line_of(of.text, "64 "), " 2.333 ± ")) << line_of(of.text, "64 ");
  EXPECT_TRUE(has(line_of(of.text, "64 "), " 5 2.401 ± ")) << line_of(of.text, "64 ");
  EXPECT_NEAR(std::stod(entry(of.csv, 2, "baseline_mean")), 2.4008, 1e-12);
  EXPECT_NEAR(of.json["effects"][0]["groups"][2]["contrast"]["baseline"]["mean"], 2.4008, 1e-12);
}

TEST(CompareReport, TheBaselinesMeanIsShownWhereSeedsWereLeftOut) {
  GridCells cells = widths();
  cells.at("64", 2).status = CellStatus::Failed;
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(of.text, "baseline  difference")) << of.text;
  EXPECT_TRUE(has(line_of(of.text, "64 "), " 4 2.4087 ± ")) << line_of(of.text, "64 ");
}

std::set<std::string> names_in(const Json& json) {
  std::set<std::string> out;
  for (const auto& [name, value] : json.items()) out.insert(name);
  return out;
}

TEST(CompareReport, JsonHasItsMembersAndNumbersInFullPrecision) {
  GridCells cells = two_factor_grid();
  cells.arm("plain", {2.5, 2.45, 2.52, 2.48, 2.5}, "none");
  const Json json = answer_by(cells, {"d_model", "lr"}).json;
  EXPECT_EQ(names_in(json),
            (std::set<std::string>{
                "schema",   "sweep",  "store",    "stores",         "repeated",       "metric",
                "unit",     "goal",   "note",     "sees_future",    "margin",         "confidence",
                "level",    "family", "outside",  "without_figure", "problem",        "effects",
                "variance", "tables", "until_ci", "damages",        "other_questions"}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["metric"], "final_loss.valid");
  const Json& table = json["effects"][0];
  EXPECT_EQ(names_in(table),
            (std::set<std::string>{"factor", "within", "exploratory", "baseline", "averaged_over",
                                   "moves_with", "groups", "trend"}));
  EXPECT_EQ(table["averaged_over"], Json::array({"train.lr"}));
  const Json& group = table["groups"][1];
  EXPECT_EQ(names_in(group), (std::set<std::string>{"name", "tag", "level", "baseline", "cells",
                                                    "missing", "diverged", "all", "contrast"}));
  EXPECT_EQ(group["level"], 32);
  EXPECT_TRUE(table["groups"][3]["level"].is_null());
  EXPECT_EQ(table["groups"][3]["tag"], "none");
  EXPECT_TRUE(table["groups"][0]["contrast"].is_null()) << "the baseline";
  for (const char* name :
       {"difference", "seeds", "values", "baseline", "combinations", "left_out", "unpaired",
        "refused", "holm_p", "simultaneous", "sign_flip", "signs", "improved", "effect",
        "equivalence_p", "detectable", "seeds_needed", "verdict"}) {
    EXPECT_TRUE(group["contrast"].contains(name)) << name;
  }
  EXPECT_NEAR(group["contrast"]["difference"]["p"], 0.00015163047468379882, 1e-12);
  EXPECT_NEAR(group["contrast"]["difference"]["interval"][0], -0.04110936959228925, 1e-12);
  EXPECT_NEAR(group["contrast"]["values"]["group"][0], (2.390 + 2.352) / 2, 1e-12);
  EXPECT_EQ(group["contrast"]["verdict"], "differs");
  EXPECT_EQ(table["trend"]["seeds"], 5);
  const Json& exploratory = json["effects"][2];
  EXPECT_EQ(exploratory["exploratory"], true);
  EXPECT_EQ(exploratory["within"], "train.lr = 0.1");
  EXPECT_TRUE(exploratory["groups"][1]["contrast"]["holm_p"].is_null());
  const Json& variance = json["variance"][0];
  EXPECT_EQ(names_in(variance),
            (std::set<std::string>{"a", "b", "levels_a", "levels_b", "seeds", "shares_a",
                                   "shares_b", "shares_interaction", "interactions", "refused"}));
  EXPECT_EQ(variance["levels_b"], Json::array({"0.1", "0.2"}));
  EXPECT_NEAR(variance["shares_interaction"]["p"], 0.0026523861308017805, 1e-9);
  EXPECT_EQ(variance["interactions"][1]["a"], "64");
}

TEST(CompareReport, CsvHasARowForEachGroupOfEachTable) {
  const Table csv = answer_by(two_factor_grid(), {"d_model", "lr"}).csv;
  EXPECT_EQ(csv.rows.size(), 3U + 2U + 2U * 3U + 3U * 2U);
  EXPECT_EQ(entry(csv, 1, "factor"), "model.d_model");
  EXPECT_EQ(entry(csv, 1, "group"), "32");
  EXPECT_NEAR(std::stod(entry(csv, 1, "holm_p")), 0.00030326094936759763, 1e-12);
  EXPECT_EQ(entry(csv, 1, "verdict"), "differs");
  EXPECT_EQ(entry(csv, 0, "baseline"), "true");
  EXPECT_EQ(entry(csv, 0, "p"), "");
  EXPECT_EQ(entry(csv, 5, "exploratory"), "true");
  EXPECT_EQ(entry(csv, 6, "holm_p"), "") << "of no family";
  EXPECT_NE(entry(csv, 6, "p"), "");
}

GridCells with_infinite(std::size_t level) {
  GridCells cells = widths();
  cells.listing.cells[5 * level + 1].metrics["final_loss.valid"] = kInfinity;
  return cells;
}

TEST(CompareReport, InfiniteFiguresHaveNoMeanAndTheOthersAreTested) {
  const Answer of = answer_by(with_infinite(2), {"d_model"});
  EXPECT_FALSE(of.problem);
  EXPECT_TRUE(of.json["effects"][0]["groups"][2]["contrast"]["difference"]["p"].is_null());
  EXPECT_EQ(of.json["effects"][0]["groups"][1]["contrast"]["verdict"], "differs");
  EXPECT_EQ(entry(of.csv, 2, "mean"), "inf");
  EXPECT_EQ(of.json["family"], 1);
  GridCells cells = with_infinite(1);
  cells.listing.cells[1].metrics["final_loss.valid"] = kInfinity;  // ∞ − ∞ of one seed
  const Answer both = answer_by(cells, {"d_model"});
  EXPECT_FALSE(has(line_of(both.text, "32"), "inf")) << "a mean that is none: " << both.text;
  EXPECT_TRUE(has(both.text, "32: a figure of its 5 seeds is infinite")) << both.text;
}

TEST(CompareReport, OfInfiniteFiguresNothingElseIsSaid) {
  const Answer one = answer_by(with_infinite(2), {"d_model"});
  EXPECT_FALSE(has(one.text, "vary")) << one.text;
  EXPECT_FALSE(has(one.text, "nan")) << one.text;
  const Answer all = answer_by(with_infinite(0), {"d_model"});
  EXPECT_FALSE(has(all.sentence(), "varies")) << all.sentence();
  GridCells cells = with_infinite(1);
  cells.listing.cells[1].metrics["final_loss.valid"] = kInfinity;
  EXPECT_FALSE(has(answer_by(cells, {"d_model"}).text, "nan"));
}

TEST(CompareReport, AnArmThatWithinLeavesOutIsNamed) {
  GridCells cells = two_factor_grid();
  cells.arm("plain", {2.5, 2.45, 2.52, 2.48, 2.5});
  ComparisonQuery query;
  query.by = {"d_model"};
  query.within = "lr";
  EXPECT_TRUE(has(answer(cells, query, cells.rows()).text, "plain"));
}

TEST(CompareReport, CellsWithoutACommonCombinationAreCounted) {
  GridCells cells;
  for (int seed = 0; seed < 4; ++seed) {
    cells.add({{"model.d_model", 16}, {"train.lr", 0.1}}, seed, 2.1 + 0.01 * seed);
    cells.add({{"model.d_model", 32}, {"train.lr", 0.2}}, seed, 2.3 + 0.02 * seed);
    cells.add({{"model.d_model", 16}, {"train.lr", 0.3}}, seed, 2.2 + 0.02 * seed);
  }
  const Answer of = answer_by(cells, {"d_model"});
  EXPECT_TRUE(has(line_of(of.text, "32:"), "12 cells")) << of.text;
  EXPECT_EQ(of.problem->code, ExitCode::Partial);
}

TEST(CompareReport, OfATargetThatWasNotReachedAllOutputsSayTheSame) {
  GridCells cells = with_infinite(1);
  ComparisonQuery query;
  query.by = {"d_model"};
  query.derived = DerivedMetric{"final_loss.valid", "eval_loss.valid", "", {}};
  for (const std::size_t row : cells.rows()) query.derived->reached[row] = {row != 6, 2.5};
  const Answer of = answer(cells, query, cells.rows());
  EXPECT_EQ(of.json["effects"][0]["groups"][1]["contrast"]["verdict"], entry(of.csv, 1, "verdict"));
  EXPECT_FALSE(has(line_of(of.text, "32:"), "inf")) << of.text;
}

TEST(CompareReport, NamesReachATerminalWithoutTheirControlCharacters) {
  GridCells cells;
  cells.arm("base", {2, 2.1, 2.2}).arm("a\x1b[31mred", {1.9, 2.1, 2.0});
  cells
      .arm(
          "b\xe2\x80\xae"
          "evil",
          {2, 2.2})
      .baseline("base");
  const std::string text = answer_by(cells, {"arm"}).text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
  EXPECT_TRUE(has(text, "a\\x1b[31mred") && has(text, "b\\u202eevil: left out")) << text;
}

TEST(CompareReport, AnotherMetricThanTheSweepsOwnIsExploratory) {
  GridCells cells = widths();
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics["eval_loss.valid"] = 2 * cell.metrics["final_loss.valid"];
  }
  ComparisonQuery query;
  query.by = {"d_model"};
  for (const bool other : {false, true}) {
    query.metric = other ? "eval_loss.valid" : "final_loss.valid";
    const CompareAnswer said = answer(cells, query, cells.rows());
    EXPECT_EQ(said.json["effects"][0]["exploratory"], other);
    EXPECT_EQ(entry(said.csv, 1, "exploratory"), other ? "true" : "false");
    EXPECT_EQ(has(said.text, "exploratory"), other) << said.text;
    EXPECT_FALSE(said.json["effects"][0]["groups"][1]["contrast"]["holm_p"].is_null());
  }
}

TEST(CompareReport, TheOwnMetricReadFromCurvesIsExploratory) {
  GridCells cells = widths();
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics["at_flops.final_loss.valid"] = cell.metrics["final_loss.valid"];
  }
  ComparisonQuery query;
  query.by = {"d_model"};
  query.metric = "final_loss.valid";
  query.derived =
      DerivedMetric{.name = "at_flops.final_loss.valid", .of = "final_loss.valid", .note = ""};
  const CompareAnswer said = answer(cells, query, cells.rows());
  EXPECT_EQ(said.json["effects"][0]["exploratory"], true);
  EXPECT_TRUE(has(said.text, "own question is of final_loss.valid at the end of training"))
      << said.text;
}

TEST(CompareReport, CompletedCellsWithoutAFigureAreNamedEverywhere) {
  GridCells cells = widths();
  cells.listing.cells[2].metrics["final_loss.valid"] = std::nan("");
  const std::string& alias = cells.listing.cells[2].alias;
  const CompareAnswer said = answer_by(cells, {"d_model"});
  EXPECT_EQ(said.json["without_figure"], Json::array({alias}));
  EXPECT_TRUE(has(said.text, "so left out: " + alias)) << said.text;
}

TEST(CompareReport, ALevelWithoutTheBaselineSaysWhyItHasNoDifference) {
  GridCells cells = two_factor_grid();
  cells.baseline("16,0.1");
  ComparisonQuery query;
  query.within = "train.lr";
  const std::string text = answer(cells, query, cells.rows()).text;
  EXPECT_TRUE(has(text, "the baseline 16,0.1 has no cells at train.lr = 0.2")) << text;
  EXPECT_FALSE(has(text, "the baseline 16,0.1 has no cells at train.lr = 0.1")) << text;
}

/// Of two stores the first one's question is answered, which is said unless the query names it.
TEST(CompareReport, StoresThatAskAnotherQuestionAreNamed) {
  GridCells first({}, "results/a"), second({}, "results/b");
  for (GridCells* cells : {&first, &second}) {
    cells->arm(cells == &first ? "base" : "big", {2.0, 2.1, 2.3});
    for (CellSummary& cell : cells->listing.cells) cell.metrics["final_accuracy.valid"] = 0.5;
  }
  first.baseline("base");
  second.listing.metric = "final_accuracy.valid";
  second.listing.goal = "maximize";
  const auto both = [&] {
    GridCells out;
    out.listing = listing_union({first.listing, second.listing});
    return out;
  };
  const Answer taken = answer_by(both(), {"arm"});
  EXPECT_TRUE(has(taken.text,
                  "results/b is about final_accuracy.valid (maximize); the question here is that "
                  "of results/a: final_loss.valid (minimize); --metric and --goal name another\n"))
      << taken.text;
  EXPECT_EQ(
      taken.json["other_questions"],
      Json::array(
          {{{"store", "results/b"}, {"metric", "final_accuracy.valid"}, {"goal", "maximize"}}}));
  ComparisonQuery query;
  query.metric = "final_loss.valid";
  EXPECT_FALSE(has(answer(both(), query, both().rows()).text, "is about"));
  second.listing.metric = first.listing.metric;  // only the goal differs
  EXPECT_TRUE(has(answer(both(), query, both().rows()).text, "final_loss.valid (maximize); the"));
  query.goal = "minimize";
  EXPECT_FALSE(has(answer(both(), query, both().rows()).text, "is about"));
  second.listing.goal = first.listing.goal;
  EXPECT_FALSE(has(answer_by(both(), {"arm"}).text, "is about"));
}

TEST(CompareReport, ACompletedCellWithoutANumberIsNamed) {
  GridCells cells;
  cells.arm("base", {2, 2.1, kNaN}).arm("big", {1.9, 2.1, 2.0}).baseline("base");
  const std::string text = answer_by(cells, {"arm"}).text;
  EXPECT_TRUE(has(text, "NaN") && has(text, "left out: base,s2\n")) << text;
  EXPECT_FALSE(has(answer_by(widths(), {"d_model"}).text, "NaN"));
}

TEST(CompareReport, AColumnThatIsNoMetricIsNamedAsOne) {
  ComparisonQuery query;
  query.metric = "parameters";
  try {
    static_cast<void>(widths().compare(query));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_TRUE(has(error.what(), "column of results")) << error.what();
    EXPECT_TRUE(has(error.what(), "final_loss.valid")) << error.what();
  }
}

}  // namespace compare_report_test
}  // namespace depthgrid
