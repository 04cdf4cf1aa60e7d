#include "sweeps/plan/structure_cost.hpp"

#include <gtest/gtest.h>

#include "core/config/identity.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace structure_cost_test {

TEST(StructureCost, SecondsOfACellAreStepsEvaluationsAndFiles) {
  const CellConfig config = make_config({{"data.seq_len", 64},
                                         {"eval.every", 100},
                                         {"eval.final_windows", 10},
                                         {"eval.windows", 4},
                                         {"train.steps", 1000}});
  StructureCost cost;
  cost.seconds_per_cell_step = 0.5;
  cost.seconds_per_eval_token = 0.25;
  const double splits = static_cast<double>(config.words("eval.splits").size());
  const double tokens = 11 * splits * 4 * 64 + 1 * 10 * 64;  // at_start; one final split
  const PredictedTime parts = predicted_times(config, cost);
  EXPECT_DOUBLE_EQ(parts.ending, 0.25 * 10 * 64);
  EXPECT_DOUBLE_EQ(parts.training + parts.ending, 500 + 0.25 * tokens);
  EXPECT_GT(parts.fixed, 0.01);  // the files of a cell cost time, even without a step
  EXPECT_LT(parts.fixed, 0.1);
  EXPECT_DOUBLE_EQ(predicted_cell_seconds(config, cost), 500 + 0.25 * tokens + parts.fixed);
}

TEST(StructureCost, RoughTimesGrowWithOperationsAndDepth) {
  const auto rough = [](std::int64_t layers, double flops) {
    StructureCost cost;
    cost.flops_per_token = flops;
    set_rough_times(
        cost,
        make_config({{"data.seq_len", 32}, {"model.n_layers", layers}, {"train.batch_size", 8}}));
    return cost;
  };
  const StructureCost one = rough(4, 1e6);
  EXPECT_DOUBLE_EQ(one.seconds_per_cell_step, 3 * 8 * 32 * one.seconds_per_eval_token);
  EXPECT_GT(rough(8, 1e6).seconds_per_eval_token, one.seconds_per_eval_token);
  EXPECT_GT(rough(4, 2e6).seconds_per_eval_token, one.seconds_per_eval_token);
  EXPECT_GT(rough(4, 0).seconds_per_eval_token, 0);
}

/// Tokens of a cell's evaluations.
double evaluated(ValueMap leaves) {
  leaves.insert(leaves.end(), {{"data.seq_len", 64}, {"train.steps", 1000}});
  sort_map(leaves);
  StructureCost cost;
  cost.seconds_per_eval_token = 1;
  const PredictedTime times = predicted_times(make_config(leaves), cost);
  return times.training + times.ending;
}

TEST(StructureCost, TheLastStepIsEvaluatedToo) {
  const auto with = [](Value every) {
    return evaluated({{"eval.at_start", false},
                      {"eval.every", std::move(every)},
                      {"eval.splits", Value(ValueList{Value("valid")})},
                      {"eval.windows", 4}});
  };
  EXPECT_DOUBLE_EQ(with(300), 4 * 4 * 64);  // after 300, 600, 900 and 1000 steps
  EXPECT_DOUBLE_EQ(with({}), 4 * 64);
}

TEST(StructureCost, ModesOfLayersThatSkipAreCounted) {
  const double tokens =
      evaluated({{"eval.at_start", false},
                 {"eval.every", 500},
                 {"eval.final_windows", 100},
                 {"eval.modes", Value(ValueList{Value("dense"), Value("student")})},
                 {"eval.splits", Value(ValueList{Value("valid")})},
                 {"eval.windows", 40},
                 {"model.family", "mod"}});
  // Two evaluations and a final one: of the split, and in two modes on fewer windows.
  EXPECT_DOUBLE_EQ(tokens, 64 * ((2 * 40 + 100) + 2 * (2 * 4 + 100)));
}

TEST(StructureCost, ThresholdsOfAllLayersAreCalibratedInOnePass) {
  const double tokens =
      evaluated({{"eval.at_start", false},
                 {"eval.every", 500},
                 {"eval.final_windows", 100},
                 {"eval.modes", Value(ValueList{Value("student"), Value("teacher_threshold")})},
                 {"eval.splits", Value(ValueList{Value("valid")})},
                 {"eval.windows", 40},
                 {"model.family", "tdt"},
                 {"model.n_layers", 6},
                 {"model.tdt.calibration_tokens", 64 * 60}});
  const double evaluations = (2 * 40 + 100) + 4 * (2 * 4 + 100);  // a student for each decider
  const double calibrations = (2 * 4 + 60) * 2;  // of the student and of the teacher
  EXPECT_DOUBLE_EQ(tokens, 64 * (evaluations + calibrations));
}

TEST(StructureCost, ThePublishedProtocolIsCounted) {
  const auto with = [](const char* protocol) {
    return evaluated({{"eval.at_start", true}, {"eval.every", 500}, {"eval.protocol", protocol}});
  };
  EXPECT_DOUBLE_EQ(with("published_1") - with("standard"), 64 * 3 * 80);
}

double stored(const ValueMap& leaves, std::int64_t parameters = 0) {
  return predicted_stored_bytes(make_config(leaves), parameters);
}

TEST(StructureCost, AStepIsStoredAsAFrameAndTwice) {
  const double of_a_step = 24 + 12 * static_cast<double>(row_numbers("step"));
  EXPECT_DOUBLE_EQ(stored({{"eval.every", {}}, {"train.steps", 300}}) -
                       stored({{"eval.every", {}}, {"train.steps", 100}}),
                   200 * of_a_step);
}

TEST(StructureCost, EvaluationsAreStoredAtTheStartPeriodicallyAndAtTheEnd) {
  const double of_an_evaluation = 24 + 12 * static_cast<double>(row_numbers("eval_step"));
  const auto with = [](bool at_start, std::int64_t every) {
    return stored({{"eval.at_start", at_start},
                   {"eval.by_position", false},
                   {"eval.every", every},
                   {"train.steps", 100}});
  };
  EXPECT_NEAR(with(true, 10) - with(false, 10), of_an_evaluation, 1e-6);
  // After 10, 20, ... 100 steps against 30, 60, 90 and, as the last, 100.
  EXPECT_NEAR(with(false, 10) - with(false, 30), 6 * of_an_evaluation, 1e-6);
}

TEST(StructureCost, EveryKeptCheckpointHoldsTheWeightsAndTwoMoments) {
  const auto with = [](const ValueList& at, std::int64_t best, bool last) {
    return stored({{"checkpoint.keep_at", at},
                   {"checkpoint.keep_best", best},
                   {"checkpoint.keep_final", last}},
                  1000);
  };
  constexpr double kCheckpoint = 5e3 + 12 * 1000;
  const double none = with({}, 0, false);
  EXPECT_NEAR(with({}, 0, true) - none, kCheckpoint, 1e-6);
  EXPECT_NEAR(with({}, 1, true) - none, 2 * kCheckpoint, 1e-6);
  EXPECT_NEAR(with(ValueList{10, 20}, 1, true) - none, 4 * kCheckpoint, 1e-6);
}

TEST(StructureCost, FilesOfAProbeAreStoredAtEachLook) {
  const ProbeCost rows{
      .name = "trajectory", .measurements = 3, .seconds = 1, .numbers = 10, .bytes = 0};
  ProbeCost states = rows;
  states.bytes = 917504;
  EXPECT_DOUBLE_EQ(stored_bytes(rows), 3 * 10 * 12);
  EXPECT_DOUBLE_EQ(stored_bytes(states) - stored_bytes(rows), 3 * 917504);
  const CellConfig cell;
  EXPECT_DOUBLE_EQ(predicted_stored_bytes(cell, 0, {states}) - predicted_stored_bytes(cell, 0),
                   stored_bytes(states));
}

TEST(StructureCost, ReadsBackWhatWasWritten) {
  StructureCost cost;
  cost.structure = "s0";
  cost.parameters = 7;
  cost.parameter_groups = {{"trunk", 5}, {"control", 2}};
  cost.student_flops = StudentFlops{1, 2, 3};
  cost.probes = {{.name = "gates", .measurements = 3, .seconds = 0.5, .numbers = 6, .bytes = 8}};
  cost.fixed_bytes = 11;
  cost.time_feature_rank = 4;
  cost.tensors = {{"head.weight", {17, 8}, "trunk"}};

  const CostTable back = parse_costs(costs_json({{"s0", cost}}));

  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(costs_json(back), costs_json({{"s0", cost}}));
  EXPECT_EQ(back.at("s0").parameter_groups, cost.parameter_groups);
  EXPECT_EQ(back.at("s0").student_flops->attention, 3);
  EXPECT_EQ(back.at("s0").fixed_bytes, 11);
  EXPECT_EQ(back.at("s0").time_feature_rank, 4);
  ASSERT_EQ(back.at("s0").probes.size(), 1U);
  EXPECT_EQ(back.at("s0").probes[0].seconds, 0.5);
  EXPECT_EQ(back.at("s0").probes[0].bytes, 8);
  EXPECT_EQ(back.at("s0").tensors[0].shape, (std::vector<std::int64_t>{17, 8}));
}

}  // namespace structure_cost_test
}  // namespace depthgrid
