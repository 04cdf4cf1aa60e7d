#include "sweeps/compare/time_origins.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/compare/arms_report.hpp"
#include "sweeps/compare/two_stage.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/compare/timed_store.hpp"

namespace depthgrid {
namespace time_origins_test {

/// One job of each cell on one machine.
std::vector<MadeAttempt> alone() {
  std::vector<MadeAttempt> out;
  for (const char* job : {"a", "b", "c", "d", "e", "f"}) out.push_back({"cpu", job, 1});
  return out;
}

/// The seeds of each arm in one job.
std::vector<MadeAttempt> fused() {
  std::vector<MadeAttempt> out(3, {"cpu", "left", 3});
  out.resize(6, {"cpu", "right", 3});
  return out;
}

CompareAnswer by_time(const TimedStore& store) {
  ComparisonQuery query;
  query.metric = "cost_wall_time";
  return answer(store.cells, query, store.cells.rows());
}

TEST(TimeOrigins, SecondsAndRatesAreMeasuredAndCountsAreNot) {
  for (const char* metric : {"cost_wall_time", "cost_device_time", "cost_step_time_p50",
                             "cost_tokens_per_second", "train_wall_time"}) {
    EXPECT_TRUE(is_measured_time(metric)) << metric;
  }
  for (const char* metric : {"cost_flops_total", "cost_memory_peak", "final_loss.valid",
                             "predicted_wall_time", "train_tokens", "no_such"}) {
    EXPECT_FALSE(is_measured_time(metric)) << metric;
  }
}

TEST(TimeOrigins, AreReadFromResultsAndFromThePackedFile) {
  for (const bool packed : {false, true}) {
    TimedStore store;
    store.two_arms(fused());
    store.add("twice", 0, 1, {{"cpu", "left", 3}, {"gpu", "own", 1}});
    static_cast<void>(packed ? store.pack() : store.publish());
    const TimeOrigins of = read_time_origins(store.cells.listing, store.cells.rows());
    ASSERT_EQ(of.machines.size(), 7U) << packed;
    EXPECT_EQ(of.machines.at(0), "cpu, 3 cells");
    EXPECT_EQ(of.machines.at(6), "cpu, 3 cells; gpu, 1 cell");
    EXPECT_EQ(of.jobs.at(0), of.jobs.at(2));
    EXPECT_NE(of.jobs.at(0), of.jobs.at(3));
    EXPECT_EQ(of.jobs.at(6).size(), 2U);
  }
}

/// A cell that was trained again after packing has its newest attempts in its result.
TEST(TimeOrigins, APackedFileThatIsBehindDoesNotCount) {
  TimedStore store;
  store.two_arms(fused()).pack();
  TimedStore newer;
  newer.two_arms(alone()).publish();
  CellSummary& cell = store.cells.listing.cells[0];
  cell.attempts = 2;
  EXPECT_FALSE(read_time_origins(store.cells.listing, store.cells.rows()).machines.contains(0U));
  EXPECT_EQ(read_time_origins(newer.cells.listing, newer.cells.rows()).machines.at(0),
            "cpu, 1 cell");
}

TEST(TimeOrigins, OfWhatIsNotThereNothingIsSaid) {
  TimedStore store;
  store.two_arms(fused());  // without a file
  EXPECT_TRUE(read_time_origins(store.cells.listing, store.cells.rows()).machines.empty());
  store.publish();
  store.cells.listing.cells[1].status = CellStatus::Failed;
  EXPECT_EQ(read_time_origins(store.cells.listing, store.cells.rows()).machines.size(), 5U);
  store.cells.listing.store = "no/such/store";
  EXPECT_TRUE(read_time_origins(store.cells.listing, store.cells.rows()).machines.empty());
}

TEST(TimeOrigins, TimesOfSharedMeasurementsHaveNoP) {
  TimedStore store;
  const CompareAnswer said = by_time(store.two_arms(fused()).pack());
  expect_no_p(said);
  EXPECT_TRUE(has(said.sentence(), "one measurement of time")) << said.sentence();
  EXPECT_TRUE(has(line_of(said.text, "slow:"), "3 pairs are of 1 measurement")) << said.text;
  const nlohmann::json& groups = said.json["effects"][0]["groups"];
  EXPECT_EQ(groups[1]["contrast"]["measurements"], 1);
  EXPECT_TRUE(groups[1]["all"]["interval"].is_null()) << "nor has the mean of an arm";
  EXPECT_TRUE(has(said.json["variance"][0]["refused"], "measurement of time"));
  TimedStore apart;
  const CompareAnswer each = by_time(apart.two_arms(alone()).pack());
  EXPECT_FALSE(each.problem) << each.sentence();
  EXPECT_EQ(each.json["effects"][0]["groups"][1]["contrast"]["measurements"], 3);
  EXPECT_FALSE(each.json["effects"][0]["groups"][1]["all"]["interval"].is_null());
}

TEST(TimeOrigins, TheSameCellsAreComparedInAnotherMetric) {
  TimedStore store;
  store.two_arms(fused()).pack();
  store.cells.at("slow", 1).metrics["final_loss.valid"] = 2.5;
  EXPECT_FALSE(answer(store.cells, {}, store.cells.rows()).problem);
}

TEST(TimeOrigins, TimesOfJobsOfOtherSizesAreRefused) {
  TimedStore store;
  std::vector<MadeAttempt> jobs = alone();
  for (std::size_t row = 3; row < 6; ++row) jobs[row].fused = 2;
  const CompareAnswer said = by_time(store.two_arms(jobs).publish());
  EXPECT_TRUE(has(said.sentence(), "the machine is cpu, 2 cells, in the baseline cpu, 1 cell"))
      << said.sentence();
  expect_no_p(said);
}

TEST(TimeOrigins, ResultsByArmKeepTheSameRules) {
  TimedStore store;
  store.two_arms(fused()).pack();
  const std::vector<std::size_t> rows = store.cells.rows();
  const ArmComparison shared = compare_arms(store.cells.listing, rows);
  const ArmMetric& time = shared.arms.at(1).metrics.at("cost_wall_time");
  ASSERT_TRUE(time.difference);
  EXPECT_EQ(time.measurements, 1U);
  EXPECT_TRUE(std::isnan(time.difference->low) && std::isnan(time.difference->high));
  EXPECT_FALSE(std::isnan(time.difference->value));
  EXPECT_FALSE(std::isnan(shared.arms[1].metrics.at("final_loss.valid").difference->low));
  const std::string text =
      arms_text(store.cells.listing, shared, arm_metrics(shared, {"cost_wall_time"}));
  EXPECT_TRUE(has(text, "no interval for slow: cost_wall_time: its 3 pairs are of 1 measurement"))
      << text;
  TimedStore sizes;
  std::vector<MadeAttempt> jobs = alone();
  for (std::size_t row = 3; row < 6; ++row) jobs[row].fused = 2;
  sizes.two_arms(jobs).pack();
  const ArmComparison apart = compare_arms(sizes.cells.listing, rows);
  EXPECT_TRUE(apart.arms.at(1).metrics.at("cost_wall_time").refused);
  EXPECT_FALSE(apart.arms.at(1).metrics.at("final_loss.valid").refused);
}

TEST(TimeOrigins, AreNotReadForAnOutputThatShowsNoTime) {
  TimedStore store;
  store.two_arms(fused()).pack();
  Listing& listing = store.cells.listing;
  const ArmComparison arms = compare_arms(listing, store.cells.rows(), "", {}, false);
  const ArmMetric& time = arms.arms.at(1).metrics.at("cost_wall_time");
  EXPECT_EQ(time.sample.n, 3U);
  EXPECT_FALSE(time.difference) << "it is not known which cells share a measurement";
  EXPECT_TRUE(arms.arms[1].metrics.at("final_loss.valid").difference);

  const std::vector<std::string> loss = {"final_loss.valid"};
  EXPECT_FALSE(shows_times(listing, loss, "-final_loss.test"));
  EXPECT_TRUE(shows_times(listing, loss, "-cost_wall_time"));
  EXPECT_TRUE(shows_times(listing, loss, "wall_time")) << "the end of a name";
  EXPECT_TRUE(shows_times(listing, {"final_loss.valid", "cost_*"}, ""));
  EXPECT_TRUE(shows_times(listing, {}, "")) << "everything";
  listing.matched.emplace_back();
  EXPECT_TRUE(shows_times(listing, loss, "")) << "arms of equal size are shown with their costs";
}

TEST(TimeOrigins, WithoutACommonSeedSharedTimesHaveNoIntervalEither) {
  TimedStore store;
  store.two_arms(fused()).pack();
  for (std::size_t row = 3; row < 6; ++row) store.cells.listing.cells[row].seed += 10;
  ComparisonQuery query;
  query.metric = "cost_wall_time";
  const Comparison said = store.cells.compare(query);
  const ContrastEvidence& slow = evidence_for(said.effects[0], "slow");
  ASSERT_TRUE(slow.unpaired);
  EXPECT_TRUE(std::isnan(slow.unpaired->low));
  const ArmComparison arms = compare_arms(store.cells.listing, store.cells.rows());
  EXPECT_TRUE(std::isnan(arms.arms.at(1).metrics.at("cost_wall_time").difference->low));
}

/// Stein's rule takes the spread over seeds for that of independent measurements.
TEST(TimeOrigins, SeedsAreNotAddedByASpreadOfSharedMeasurements) {
  TimedStore store;
  for (int seed = 0; seed < 5; ++seed) {
    store.add("base", seed, 1 + 0.1 * seed, {{"cpu", "left", 5}});
    store.add("slow", seed, 2 + 0.01 * seed * seed, {{"cpu", "right", 5}});
  }
  store.cells.baseline("base").listing.metric = "cost_wall_time";
  store.pack();
  try {
    static_cast<void>(decide_two_stage(store.cells.listing, {"0.1", 100}));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_TRUE(has(error.what(), "share a measurement of cost_wall_time")) << error.what();
  }
}

}  // namespace time_origins_test
}  // namespace depthgrid
