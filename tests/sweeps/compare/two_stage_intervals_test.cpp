// The intervals of `--until-ci` beside a comparison: for the rule's own question only, one row an
// arm whatever is missing, the same numbers as text, JSON and columns.
#include "sweeps/compare/two_stage_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/compare/arms_report.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/two_stage.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace two_stage_intervals_test {

const std::vector<double> kBase = {2.0, 2.1, 1.9, 2.05, 1.95, 2.2, 1.8};
const std::vector<double> kWide = {1.9, 2.2, 1.7, 2.15, 2.0, 2.1, 1.9};
const std::vector<double> kNear = {2.01, 2.12, 1.9, 2.06, 1.97, 2.2, 1.82};
constexpr double kT4 = 2.7764451051977987;  // scipy.stats.t.ppf(.975, 4)

/// A store whose stage one of five seeds has asked for seven, all of them trained.
struct StagedStore {
  TemporaryFolder folder;
  GridCells cells = grid(7);

  StagedStore() {
    publish_two_stage(folder.path(), decide_two_stage(grid(5).listing, {"0.145", 100}).value());
  }
  GridCells grid(std::size_t seeds) const {
    const auto first = [seeds](const std::vector<double>& all) {
      return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seeds));
    };
    GridCells out({}, folder.path().string());
    out.arm("base", first(kBase)).arm("wide", first(kWide), "w").arm("near", first(kNear));
    out.baseline("base");
    for (CellSummary& cell : out.listing.cells) {
      cell.metrics["train_loss"] = 2 * cell.metrics[out.listing.metric];
    }
    return out;
  }
  std::vector<TwoStageAnswer> answers(const TwoStageQuestion& question) const {
    return two_stage_answers(cells.listing, question);
  }
  std::vector<TwoStageAnswer> own() const { return answers(two_stage_question(cells.listing)); }
  std::vector<TwoStageAnswer> compared(const ComparisonQuery& query,
                                       const std::vector<std::size_t>& rows) const {
    const Comparison comparison = compare_cells(cells.listing, rows, query);
    return answers(two_stage_question(cells.listing, comparison, rows, query.allowed));
  }
  std::string text() const { return two_stage_text(cells.listing, own()); }
};

ComparisonQuery asked(const std::string& metric, const std::string& baseline = "") {
  ComparisonQuery out;
  out.metric = metric;
  out.baseline = baseline;
  return out;
}

/// Mean of all seven, s and degrees of the first five.
void expect_wide(const SteinInterval& interval) {
  double mean = 0, first = 0, squares = 0;
  for (std::size_t i = 0; i < 7; ++i) mean += (kWide[i] - kBase[i]) / 7;
  for (std::size_t i = 0; i < 5; ++i) first += (kWide[i] - kBase[i]) / 5;
  for (std::size_t i = 0; i < 5; ++i) squares += std::pow(kWide[i] - kBase[i] - first, 2);
  const double half = kT4 * std::sqrt(squares / 4) / std::sqrt(7.0);
  EXPECT_EQ(interval.n, 7U);
  EXPECT_EQ(interval.degrees, 4);
  EXPECT_NEAR(interval.mean, mean, 1e-12);
  EXPECT_NEAR(interval.half_width, half, 1e-12);
  EXPECT_NEAR(interval.interval.low, mean - half, 1e-12);
}

TEST(TwoStageIntervals, AreOfTheFirstDeviation) {
  const StagedStore store;
  const auto answers = store.own();
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].rows.size(), 2U);
  EXPECT_EQ(answers[0].rows[0].arm, "wide");
  expect_wide(answers[0].rows[0].interval);
  EXPECT_NE(store.text().find("stage one of 5 seeds asks for 7\n"), std::string::npos);
  EXPECT_NE(store.text().find("its 4 degrees of freedom"), std::string::npos);
}

TEST(TwoStageIntervals, ACapIsSaidWithWhatItGives) {
  const StagedStore store;
  std::filesystem::remove(store.folder.path() / kTwoStageFile);
  const TwoStageRecord record =
      decide_two_stage(store.grid(5).listing, {"0.05", 7}).value();  // (t s / W)² = 55.5
  publish_two_stage(store.folder.path(), record);
  EXPECT_NE(store.text().find("asks for 56, --max-seeds allows 7: half-width of 0.1408, wider"),
            std::string::npos)
      << store.text();
}

/// One cell that is missing takes the interval of its arm, not those of others.
TEST(TwoStageIntervals, MissingCellsAreNamedInTheirRow) {
  StagedStore store;
  store.cells.at("wide", 5).status = CellStatus::Pending;
  store.cells.at("wide", 6).status = CellStatus::Diverged;
  const auto answers = store.own();
  ASSERT_EQ(answers[0].rows.size(), 2U);
  EXPECT_TRUE(std::isnan(answers[0].rows[0].interval.mean));
  EXPECT_EQ(answers[0].rows[0].pairs, 5U);
  EXPECT_FALSE(std::isnan(answers[0].rows[1].interval.mean)) << "near has all";
  const std::string text = store.text();
  EXPECT_NE(text.find("missing: wide,s5 (pending), wide,s6 (diverged)"), std::string::npos) << text;
  EXPECT_NE(text.find("5 of 7"), std::string::npos) << text;
  EXPECT_NE(text.find("depthgrid run"), std::string::npos) << text;
  EXPECT_NE(text.find("diverges again"), std::string::npos) << text;
  EXPECT_EQ(text.find("retry"), std::string::npos) << "nothing has failed";
  store.cells.at("wide", 6).status = CellStatus::Failed;
  EXPECT_NE(store.text().find("depthgrid retry --failed"), std::string::npos) << store.text();
  EXPECT_EQ(store.text().find("diverges"), std::string::npos) << store.text();
}

TEST(TwoStageIntervals, ABaselineThatLacksACellTakesAllOfThem) {
  StagedStore store;
  store.cells.at("base", 6).status = CellStatus::Oom;
  const std::vector<TwoStageAnswer> answers = store.own();
  for (const TwoStageRow& row : answers[0].rows) {
    EXPECT_TRUE(std::isnan(row.interval.mean));
    ASSERT_EQ(row.missing.size(), 1U);
    EXPECT_EQ(row.missing[0], store.cells.row_of("base", 6));
  }
  EXPECT_EQ(store.text().find("degrees of freedom"), std::string::npos) << "of no interval";
}

/// A listing of stage one alone, as of a plan that is older than the decision.
TEST(TwoStageIntervals, SeedsThatThePlanLacksAreNamed) {
  StagedStore store;
  store.cells = store.grid(5);
  const auto answers = store.own();
  EXPECT_EQ(answers[0].rows[1].absent, (std::vector<std::int64_t>{5, 6}));
  EXPECT_NE(store.text().find("no cell here of seeds 5, 6"), std::string::npos) << store.text();
}

TEST(TwoStageIntervals, StandBesideNoOtherQuestion) {
  const StagedStore store;
  const auto rows = store.cells.rows();
  EXPECT_TRUE(store.compared({}, rows)[0].not_shown.empty());
  EXPECT_TRUE(store.compared(asked("", "base"), rows)[0].not_shown.empty());
  const auto refused = [&](const ComparisonQuery& query, const std::vector<std::size_t>& taken,
                           const std::string& why) {
    const auto answers = store.compared(query, taken);
    EXPECT_TRUE(answers[0].rows.empty()) << why;
    EXPECT_NE(answers[0].not_shown.find(why), std::string::npos) << answers[0].not_shown;
    EXPECT_NE(answers[0].not_shown.find("in final_loss.valid to base"), std::string::npos);
    const std::string text = two_stage_text(store.cells.listing, answers);
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  };
  refused(asked("train_loss"), rows, "another metric");
  refused(asked("", "near"), rows, "another baseline");
  std::vector<std::size_t> fewer = rows;
  fewer.erase(fewer.begin() + 1);
  refused({}, fewer, "left out");
}

/// An arm that was added later is no part of the rule: leaving it out changes nothing.
TEST(TwoStageIntervals, CellsThatTheRuleIsNotOfMayBeLeftOut) {
  StagedStore store;
  const auto rows = store.cells.rows();
  store.cells.arm("later", {1, 1, 1, 1, 1});
  EXPECT_EQ(store.compared({}, rows)[0].rows.size(), 2U);
}

TEST(TwoStageIntervals, WhatCannotBeComparedHasNone) {
  StagedStore store;
  for (std::int64_t seed = 0; seed < 7; ++seed) store.cells.at("near", seed).code = "2";
  for (std::int64_t seed = 0; seed < 7; ++seed) {
    store.cells.at("wide", seed).code = store.cells.at("base", seed).code = "1";
  }
  const auto answers = store.own();
  EXPECT_TRUE(std::isnan(answers[0].rows[1].interval.mean));
  EXPECT_FALSE(answers[0].rows[1].refused.empty());
  EXPECT_TRUE(answers[0].rows[0].refused.empty());
  ComparisonQuery allowing;
  allowing.allowed = {"code"};
  EXPECT_FALSE(std::isnan(store.compared(allowing, store.cells.rows())[0].rows[1].interval.mean));
}

TEST(TwoStageIntervals, ADamagedRecordIsSaidAndHidesNothingElse) {
  const StagedStore store;
  store.folder.write(kTwoStageFile, "{");
  const auto answers = store.own();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_NE(answers[0].damage.find("until_ci.json: is damaged"), std::string::npos);
  EXPECT_EQ(two_stage_text(store.cells.listing, answers), answers[0].damage + "\n");
  EXPECT_EQ(two_stage_json(store.cells.listing, answers)[0].at("damage"), answers[0].damage);
}

TEST(TwoStageIntervals, WithoutARecordThereIsNothing) {
  const GridCells cells = GridCells().arm("base", kBase).arm("wide", kWide).baseline("base");
  const auto answers = two_stage_answers(cells.listing, two_stage_question(cells.listing));
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(two_stage_text(cells.listing, answers), "");
}

/// Of compare: JSON and columns have the numbers of the text.
TEST(TwoStageIntervals, AreInTheJsonAndTheColumnsOfCompare) {
  const StagedStore store;
  const Comparison comparison = store.cells.compare({});
  const auto answers = store.compared({}, store.cells.rows());
  const auto json =
      parse_json(comparison_json(store.cells.listing, comparison, std::nullopt, answers));
  const auto& one = json.at("until_ci").at(0);
  EXPECT_EQ(one.at("seeds_asked_for"), 7);
  EXPECT_EQ(one.at("not_shown"), nullptr);
  EXPECT_EQ(one.at("arms").at(0).at("arm"), "wide");
  EXPECT_EQ(one.at("arms").at(0).at("mean"), answers[0].rows[0].interval.mean);
  EXPECT_EQ(one.at("arms").at(0).at("degrees"), 4);

  Table table = comparison_csv_table(comparison);
  add_two_stage_columns(table, store.cells.listing, comparison, answers);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.columns.back().title, "until_ci_degrees");
  for (const auto& row : table.rows) ASSERT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.rows[0].back(), "") << "the baseline";
  EXPECT_EQ(table.rows[1].back(), "4");
  EXPECT_EQ(std::stod(table.rows[1][table.columns.size() - 4]), answers[0].rows[0].interval.mean);
  EXPECT_EQ(*(table.rows[1].end() - 5), "7");
}

/// Of results --by arm: in the rows of the rule's metric.
TEST(TwoStageIntervals, AreInTheJsonAndTheColumnsOfResults) {
  const StagedStore store;
  const auto rows = store.cells.rows();
  const std::vector<std::string> both = {"final_loss.valid", "train_loss"};
  const ArmComparison comparison = compare_arms(store.cells.listing, rows);
  const auto answers = store.answers(two_stage_question(comparison, rows, both, {}));
  ASSERT_EQ(answers[0].rows.size(), 2U);
  expect_wide(answers[0].rows[0].interval);
  const auto json = parse_json(arms_json(store.cells.listing, comparison, both, answers));
  EXPECT_EQ(json.at("until_ci").at(0).at("arms").at(1).at("arm"), "near");
  Table table = arms_csv_table(comparison, both);
  add_two_stage_columns(table, store.cells.listing, comparison, both, answers);
  ASSERT_EQ(table.rows.size(), 6U);
  const auto degrees = [&](std::size_t row) { return table.rows[row].back(); };
  EXPECT_EQ(degrees(2), "4");
  EXPECT_EQ(degrees(3), "") << "train_loss";
  EXPECT_EQ(degrees(0), "") << "the baseline";
  const auto other = store.answers(two_stage_question(comparison, rows, {"train_loss"}, {}));
  EXPECT_NE(other[0].not_shown.find("another metric"), std::string::npos);
}

/// A level of a factor that is one arm is that arm; one of several arms is none.
TEST(TwoStageIntervals, ALevelOfOneArmHasTheIntervalOfTheArm) {
  const auto figure = [](const std::vector<std::size_t>& at, std::int64_t seed) {
    const auto s = static_cast<std::size_t>(seed);
    return kBase[s] + (at[0] == 0 ? 0 : kWide[s] - 2);
  };
  const auto degrees = [&](const std::vector<GridFactor>& factors, const std::string& baseline) {
    const TemporaryFolder folder;
    const GridCells cells =
        GridCells({}, folder.path().string()).grid(factors, 5, figure).baseline(baseline);
    publish_two_stage(folder.path(), decide_two_stage(cells.listing, {"10", 100}).value());
    const auto answers = two_stage_answers(cells.listing, two_stage_question(cells.listing));
    EXPECT_FALSE(answers.at(0).rows.empty());
    const Comparison comparison = cells.by({"model.d_model"});
    Table table = comparison_csv_table(comparison);
    add_two_stage_columns(table, cells.listing, comparison, answers);
    return table.rows.at(1).back();
  };
  EXPECT_EQ(degrees({{"model.d_model", {16, 32}}}, "16"), "4");
  EXPECT_EQ(degrees({{"model.d_model", {16, 32}}, {"train.lr", {0.1, 0.2}}}, "16,0.1"), "");
}

}  // namespace two_stage_intervals_test
}  // namespace depthgrid
