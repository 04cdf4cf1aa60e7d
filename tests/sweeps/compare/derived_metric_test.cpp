#include "sweeps/compare/derived_metric.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/report/listing_union.hpp"
#include "tests/sweeps/compare/compare_answer.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace derived_metric_test {

constexpr const char* kMetric = "eval_loss.valid";

/// Two arms of three seeds and their curves over steps 0, 10, 20, 30, 40. The second arm takes as
/// many operations and seconds a step as the first, times `slower`.
struct TwoCurves {
  GridCells cells;
  CurvesByRow curves;

  explicit TwoCurves(double slower = 2, const std::string& schedule = "cosine")
      : cells({{"train.schedule.kind", schedule}}) {
    cells.arm("base", {2.0, 2.1, 2.3}).arm("big", {1.9, 2.2, 2.1}).baseline("base");
    for (const std::size_t row : cells.rows()) {
      CellSummary& cell = cells.listing.cells[row];
      const double cost = cell.arm == "big" ? slower : 1;
      cell.step = 40;
      cell.metrics["cost_flops_total"] = 4000 * cost;
      CellSeries& series = curves[row];
      for (const double step : {0, 10, 20, 30, 40}) {
        series.steps.push_back(step);
        series.seconds.push_back(step * cost);
        series.values.push_back(cells.figure(row) + 4 - step / 10 +
                                0.01 * static_cast<double>(row * row));
      }
      series.machines = "cpu, 1 cell";
      series.jobs = {"job" + std::to_string(row)};
    }
  }

  CompareAnswer compare(const DerivedMetric& derived) const {
    ComparisonQuery query;
    query.derived = derived;
    return answer(cells, query, cells.rows());
  }
  DerivedMetric at(CurveAxis axis) { return add_equal_cost(cells.listing, curves, kMetric, axis); }
  void set_status(CellStatus status) {
    for (CellSummary& cell : cells.listing.cells) cell.status = status;
    curves.clear();
  }
};

TEST(DerivedMetric, CurvesAreReadWhereTheCheapestCellEnded) {
  TwoCurves of;
  const DerivedMetric flops = of.at(CurveAxis::Flops);
  EXPECT_EQ(flops.name, "at_flops.eval_loss.valid");
  // the slower arm is at its step 20 there
  EXPECT_NEAR(of.cells.at("big", 0).metrics.at(flops.name), 1.9 + 4 - 2 + 0.09, 1e-12);
  EXPECT_NEAR(of.cells.at("base", 1).metrics.at(flops.name), 2.1 + 4 - 4 + 0.01, 1e-12);
  EXPECT_TRUE(has(flops.note, "4000 operations") && has(flops.note, "8000 operations"));
  EXPECT_EQ(flops.lacking, "");
  EXPECT_FALSE(of.compare(flops).problem);
}

TEST(DerivedMetric, AnUnfinishedScheduleIsSaidUnlessTheRateChangesNoMore) {
  const auto note = [](const std::string& schedule) {
    return TwoCurves(2, schedule).at(CurveAxis::Flops).note;
  };
  EXPECT_TRUE(has(note("cosine"), "schedule unfinished: 3 of 6 cells")) << note("cosine");
  EXPECT_TRUE(has(note("wsd"), "schedule unfinished"));
  EXPECT_FALSE(has(note("constant"), "schedule")) << note("constant");
  EXPECT_FALSE(has(TwoCurves(1).at(CurveAxis::Flops).note, "schedule")) << "all end there";
}

TEST(DerivedMetric, ARateChangesInWarmUpAndTillTheEndOfItsDecay) {
  const auto changes = [](const ValueMap& schedule, double step) {
    GridCells cells(schedule);
    cells.arm("base", {2.0});
    return rate_changes_after(cells.listing, 0, step);
  };
  const char* const kKind = "train.schedule.kind";
  const char* const kWarmup = "train.schedule.warmup_steps";
  const char* const kDecay = "train.schedule.decay_steps";
  EXPECT_TRUE(changes({}, 100)) << "not known";
  EXPECT_FALSE(changes({{kKind, "constant"}}, 0));
  EXPECT_TRUE(changes({{kKind, "constant"}, {kWarmup, 10}}, 9));
  EXPECT_FALSE(changes({{kKind, "constant"}, {kWarmup, 10}}, 10));
  EXPECT_TRUE(changes({{kKind, "linear"}, {kWarmup, 10}, {kDecay, 20}}, 29));
  EXPECT_FALSE(changes({{kKind, "linear"}, {kWarmup, 10}, {kDecay, 20}}, 30));
  EXPECT_TRUE(changes({{kKind, "cosine"}, {kDecay, Value()}}, 1e6));
  EXPECT_FALSE(changes({{kKind, "cosine"}, {"train.schedule.final_ratio", 1.0}}, 5));
  EXPECT_TRUE(changes({{kKind, "wsd"}, {kDecay, 20}}, 30)) << "at the end of the training";
  GridCells cells(ValueMap{{kKind, "constant"}});
  cells.arm("base", {2.0}, "", {{kKind, "cosine"}});
  EXPECT_TRUE(rate_changes_after(cells.listing, 0, 5)) << "its own";
}

TEST(DerivedMetric, AScheduleThatSeveralStoresShareIsKnownOfTheirUnion) {
  GridCells first({{"train.schedule.kind", "constant"}, {"train.steps", 1}}, "results/a");
  GridCells second({{"train.schedule.kind", "constant"}, {"train.steps", 2}}, "results/b");
  for (GridCells* cells : {&first, &second}) cells->arm("base", {2.0});
  const Listing both = listing_union({first.listing, second.listing});
  EXPECT_FALSE(rate_changes_after(both, 0, 5));
  EXPECT_EQ(find_key(both.constant, "train.steps"), nullptr);
}

TEST(DerivedMetric, AReadingBeforeTheFirstEvaluationIsSaid) {
  TwoCurves of(5);  // ends at step 8 of the other
  const DerivedMetric flops = of.at(CurveAxis::Flops);
  EXPECT_TRUE(has(flops.note, "of 3 of 6 cells it lies between step 0 and the first evaluation"))
      << flops.note;
  EXPECT_FALSE(has(TwoCurves(2).at(CurveAxis::Flops).note, "between step 0"));
  TwoCurves target;
  const DerivedMetric early =
      add_steps_to_target(target.cells.listing, target.curves, kMetric, 5.6, MetricGoal::Minimize);
  EXPECT_TRUE(has(early.note, "between step 0 and the first evaluation")) << early.note;
}

TEST(DerivedMetric, WithoutAnEvaluationThatEarlyThereIsNoFigureAndThatIsSaid) {
  TwoCurves of(5);
  for (auto& [row, series] : of.curves) {  // no evaluation at step 0
    for (std::vector<double>* values : {&series.steps, &series.seconds, &series.values}) {
      values->erase(values->begin());
    }
  }
  const DerivedMetric flops = of.at(CurveAxis::Flops);
  EXPECT_TRUE(has(flops.note, "3 of 6 cells have no evaluation that early")) << flops.note;
  EXPECT_FALSE(of.cells.at("big", 0).metrics.contains(flops.name));
}

TEST(DerivedMetric, WhereNothingHasCompletedThatIsTheAnswer) {
  for (const bool open : {true, false}) {
    TwoCurves of;
    of.set_status(open ? CellStatus::Running : CellStatus::Diverged);
    std::vector<DerivedMetric> all = {of.at(CurveAxis::Flops), of.at(CurveAxis::Time)};
    all.push_back(
        add_steps_to_target(of.cells.listing, of.curves, kMetric, 3, MetricGoal::Minimize));
    all.push_back(add_late_noise(of.cells.listing, of.curves, kMetric, 3));
    for (const DerivedMetric& derived : all) {
      const CompareAnswer out = of.compare(derived);
      EXPECT_TRUE(has(out.sentence(), "no cell has completed")) << out.sentence();
      EXPECT_EQ(out.problem->code, open ? ExitCode::Unfinished : ExitCode::Partial);
      EXPECT_FALSE(has(out.text, "inf")) << out.text;
      expect_no_p(out);
    }
  }
}

TEST(DerivedMetric, StepsHaveAUnitOfTheirOwn) {
  for (const double target : {3.0, -9.0}) {  // the second is never reached
    TwoCurves of;
    const DerivedMetric steps =
        add_steps_to_target(of.cells.listing, of.curves, kMetric, target, MetricGoal::Minimize);
    EXPECT_EQ(of.compare(steps).json["unit"], "steps") << target;
  }
  TwoCurves of;
  EXPECT_EQ(of.compare(of.at(CurveAxis::Flops)).json["unit"], "nat") << "that of the curve";
}

TEST(DerivedMetric, TooFewEvaluationsAreCounted) {
  TwoCurves of;
  const DerivedMetric noise = add_late_noise(of.cells.listing, of.curves, kMetric, 8);
  const CompareAnswer out = of.compare(noise);
  EXPECT_TRUE(has(out.sentence(), "6 of 6 cells have 5 evaluations, --last 8 needs 8"))
      << out.sentence();
  EXPECT_EQ(out.problem->code, ExitCode::Partial);
  for (const std::size_t row : {0U, 3U}) {  // one seed of both has more
    CellSeries& series = of.curves.at(row);
    for (int i = 0; i < 3; ++i) {
      series.steps.push_back(50 + 10 * i);
      series.values.push_back(2 + 0.1 * i * i);
    }
  }
  const CompareAnswer some = of.compare(add_late_noise(of.cells.listing, of.curves, kMetric, 8));
  EXPECT_TRUE(has(some.text, "no figure: 4 of 6 cells have 5 evaluations")) << some.text;
  EXPECT_TRUE(has(some.json["note"], "4 of 6 cells"));
}

TEST(DerivedMetric, SeedsOfOneFusedJobShareOneMeasurementOfTime) {
  TwoCurves of;
  EXPECT_FALSE(of.compare(of.at(CurveAxis::Time)).problem) << "each by itself";
  for (auto& [row, series] : of.curves) series.jobs = {row < 3 ? "left" : "right"};
  const CompareAnswer out = of.compare(of.at(CurveAxis::Time));
  expect_no_p(out);
  EXPECT_TRUE(has(out.sentence(), "one measurement of time")) << out.sentence();
  EXPECT_TRUE(has(out.sentence(), "fuse: off"));
  EXPECT_EQ(out.problem->code, ExitCode::Partial);
  EXPECT_TRUE(has(line_of(out.text, "big:"), "3 pairs are of 1 measurement")) << out.text;
  const nlohmann::json& contrast = out.json["effects"][0]["groups"][1]["contrast"];
  EXPECT_EQ(contrast["measurements"], 1);
  EXPECT_EQ(contrast["seeds"].size(), 3U);
  EXPECT_FALSE(contrast["difference"]["mean"].is_null());
  EXPECT_TRUE(contrast["difference"]["interval"].is_null());
  EXPECT_TRUE(contrast["improved"]["interval"].is_null() && contrast["simultaneous"].is_null());
  EXPECT_TRUE(has(out.json["variance"][0]["refused"], "measurement of time"));
  EXPECT_FALSE(of.compare(of.at(CurveAxis::Flops)).problem) << "operations are not measured";
}

TEST(DerivedMetric, PairsAreIndependentOnlyIfNoneSharesAJobWithAnother) {
  const auto measurements = [](const std::vector<std::string>& jobs) {
    TwoCurves of;
    for (auto& [row, series] : of.curves) series.jobs = {jobs[row]};
    const DerivedMetric time = of.at(CurveAxis::Time);
    ComparisonQuery query;
    query.derived = time;
    const Comparison comparison = of.cells.compare(query);
    return evidence_for(comparison.effects[0], "big").measurements;
  };
  EXPECT_EQ(measurements({"a", "b", "c", "d", "e", "f"}), 3U);
  EXPECT_EQ(measurements({"a", "b", "c", "a", "b", "c"}), 3U) << "of a pair it cancels";
  EXPECT_EQ(measurements({"a", "a", "c", "d", "e", "f"}), 2U);
  EXPECT_EQ(measurements({"a", "b", "c", "d", "a", "b"}), 1U) << "by way of the second";
  EXPECT_EQ(measurements({"a", "a", "a", "d", "e", "f"}), 1U);
}

TEST(DerivedMetric, TimesOfOtherMachinesAreRefusedPairByPair) {
  TwoCurves of;
  of.cells.arm("same", {2.0, 2.2, 2.1});
  for (std::size_t row = 6; row < 9; ++row) {
    of.curves[row] = of.curves.at(row - 6);
    of.curves[row].jobs = {"job" + std::to_string(row)};
    for (double& value : of.curves[row].values) value += 0.01 * static_cast<double>(row * row);
  }
  for (std::size_t row = 3; row < 6; ++row) {
    of.curves[row].machines = "cpu, 4 cells";
    for (double& second : of.curves[row].seconds) second /= 100;
  }
  const CompareAnswer out = of.compare(of.at(CurveAxis::Time));
  EXPECT_FALSE(out.problem) << out.sentence();
  EXPECT_TRUE(has(line_of(out.text, "big "), "refused")) << out.text;
  EXPECT_TRUE(has(line_of(out.text, "no difference for big"),
                  "the machine is cpu, 4 cells, in the baseline cpu, 1 cell"));
  EXPECT_TRUE(has(out.text, "on cpu, 1 cell") && has(out.text, "on cpu, 4 cells")) << out.text;
  // the others are read where the cheapest of their own machine ended
  EXPECT_NEAR(of.cells.at("base", 1).metrics.at("at_time.eval_loss.valid"), 2.1 + 0.01, 1e-12);
  of.cells.listing.cells.resize(6);
  of.cells.listing.baseline.resize(6);
  for (std::size_t row = 6; row < 9; ++row) of.curves.erase(row);
  const CompareAnswer two = of.compare(of.at(CurveAxis::Time));
  EXPECT_EQ(two.problem->code, ExitCode::Partial) << "as all that cannot be compared";
  EXPECT_TRUE(has(two.sentence(), "cannot be compared")) << two.sentence();
}

}  // namespace derived_metric_test
}  // namespace depthgrid
