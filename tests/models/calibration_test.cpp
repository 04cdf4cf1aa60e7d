#include "models/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tensor.h>

#include "models/routing/routing_record.hpp"
#include "models/routing/routing_statistics.hpp"
#include "models/routing/top_k.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace calibration_test {

const RoutingStatistic& find(const std::vector<RoutingStatistic>& all, std::string_view name) {
  return *std::ranges::find(all, name, &RoutingStatistic::name);
}

TEST(Calibration, EveryLayerExecutesItsShareOfTheTextItWasTakenFrom) {
  const ModelOptions o = small_options("tdt", 4);
  const Built built(o, {1, 2, 3, 4});
  const std::vector<at::Tensor> texts = {at::randint(0, o.vocabulary, {20, 9}, at::kLong),
                                         at::randint(0, o.vocabulary, {12, 9}, at::kLong)};
  for (const ExecutionMode mode : {ExecutionMode::Student, ExecutionMode::TeacherThreshold}) {
    Execution execution{.mode = mode};
    execution.thresholds = calibrated_thresholds(*built.model, texts, execution);
    if (mode == ExecutionMode::Student) execution.decider = Decider::Calibrated;
    at::Tensor executed = at::tensor(o.routing.capacity, at::kDouble).view({-1, 1}) * 0;
    executed = executed.expand({4, 2}).clone();
    for (const at::Tensor& text : texts) {
      RoutingRecord record;
      built.model->logits(text.unsqueeze(0).expand({4, text.size(0), 9}),
                          {.execution = execution, .routing = &record});
      for (std::size_t i = 0; i < 2; ++i) {
        executed.select(1, static_cast<std::int64_t>(i)) +=
            record.layers[i].executed.sum({1, 2}).to(at::kDouble);
      }
    }
    // Equal tokens in front of equal ones have equal logits, so a few ties may stand at the edge.
    const at::Tensor rate = executed / (32 * 9);
    for (std::int64_t e = 0; e < 4; ++e) {
      for (std::int64_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(rate[e][i].item<double>(), o.routing.capacity[static_cast<std::size_t>(e)],
                    0.03);
      }
    }
  }
}

/// Thresholds by their definition: a pass over the whole depth for each layer.
at::Tensor by_whole_passes(const Model& model, const std::vector<at::Tensor>& texts,
                           Execution execution) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model.options();
  const bool student = execution.mode == ExecutionMode::Student;
  if (student) execution.decider = Decider::Calibrated;
  const auto layers = static_cast<std::int64_t>(o.routing.layers.size());
  execution.thresholds = at::full({o.cells, layers}, -INFINITY, at::kDouble);
  for (std::int64_t i = 0; i < layers; ++i) {
    std::vector<at::Tensor> seen;
    for (const at::Tensor& text : texts) {
      RoutingRecord record;
      model.states(text.unsqueeze(0).expand({o.cells, text.size(0), text.size(1)}),
                   {.execution = execution, .routing = &record});
      const LayerRouting& layer = record.layers.at(static_cast<std::size_t>(i));
      const at::Tensor edge = student ? layer.logits + tie_width(layer.logits) : layer.score;
      seen.push_back(edge.flatten(1).to(at::kDouble));
    }
    const at::Tensor sorted = std::get<0>(at::sort(at::cat(seen, 1), true, 1, true));
    for (std::int64_t e = 0; e < o.cells; ++e) {
      const std::int64_t k =
          capacity_of(o.routing.capacity[static_cast<std::size_t>(e)], sorted.size(1));
      if (k < sorted.size(1)) execution.thresholds[e][i].copy_(sorted[e][k]);
    }
  }
  return execution.thresholds;
}

TEST(Calibration, GivesTheBitsOfPassesOverTheWholeDepth) {
  const ModelOptions o = small_options("tdt", 4);
  const Built built(o, {1, 2, 3, 4});
  const std::vector<at::Tensor> texts = {at::randint(0, o.vocabulary, {20, 9}, at::kLong),
                                         at::randint(0, o.vocabulary, {12, 9}, at::kLong)};
  for (const ExecutionMode mode : {ExecutionMode::Student, ExecutionMode::TeacherThreshold}) {
    const at::Tensor known = by_whole_passes(*built.model, texts, {.mode = mode});
    ASSERT_FALSE(at::equal(known[0], known[1]));
    for (const double kept_bytes : {1e9, 0.0}) {
      EXPECT_TRUE(at::equal(
          known, calibrated_thresholds(*built.model, texts, {.mode = mode}, {}, kept_bytes)))
          << name_of(mode) << ", " << kept_bytes << " bytes";
    }
  }
}

TEST(Calibration, AStudentsRecordIsThatOfAPassWithItsThresholds) {
  const ModelOptions o = small_options("tdt", 3);
  const Built built(o, {1, 2, 3});
  const at::Tensor text = at::randint(0, o.vocabulary, {6, 9}, at::kLong);

  const CalibratedStudent found = calibrated_student(*built.model, text);

  Execution student{.mode = ExecutionMode::Student};
  student.thresholds = calibrated_thresholds(*built.model, {text}, student);
  student.decider = Decider::Calibrated;
  const at::NoGradGuard no_grad;
  RoutingRecord record;
  record.teach = true;
  built.model->states(text.unsqueeze(0).expand({3, -1, -1}),
                      {.execution = student, .routing = &record});
  EXPECT_TRUE(at::equal(found.thresholds, student.thresholds));
  ASSERT_EQ(found.record.layers.size(), record.layers.size());
  for (std::size_t i = 0; i < record.layers.size(); ++i) {
    const LayerRouting &a = found.record.layers[i], &b = record.layers[i];
    EXPECT_EQ(a.layer, b.layer);
    EXPECT_TRUE(at::equal(a.executed, b.executed));
    EXPECT_TRUE(at::equal(a.logits, b.logits));
    EXPECT_TRUE(at::equal(a.score, b.score));
    EXPECT_TRUE(at::equal(a.target, b.target));
  }
}

TEST(Calibration, ACellsThresholdsAreThoseItHasAlone) {
  const at::Tensor text = at::randint(0, 17, {5, 9}, at::kLong);
  const ModelOptions o = small_options("tdt", 2);
  const Built both(o, {1, 2});
  ModelOptions second = small_options("tdt");
  second.routing.capacity = {o.routing.capacity[1]};
  const Built alone(second, {2});
  const Execution student{.mode = ExecutionMode::Student};

  const at::Tensor fused = calibrated_thresholds(*both.model, {text}, student);

  EXPECT_TRUE(at::equal(fused[1], calibrated_thresholds(*alone.model, {text}, student)[0]));
}

TEST(RoutingStatistics, OfAFusedCellAreThoseItHasAloneToTheBit) {
  constexpr std::int64_t kCells = 3;
  const ModelOptions alone = small_options("tdt"), fused = small_options("tdt", kCells);
  const at::Tensor residual = at::randn({kCells, 5, 40, alone.width});
  const at::Tensor predicted = residual * 0.5 + at::randn(residual.sizes()) * 0.1;
  const at::Tensor logits = at::randn({kCells, 5, 40});
  const auto record_of = [&](std::int64_t first, std::int64_t cells) {
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, first, cells).contiguous(); };
    const auto scalar = [&](double v) {
      return at::tensor({v}, at::kFloat).view({1, 1}).expand({cells, 1});
    };
    RoutingRecord record;
    LayerRouting& layer = record.layers.emplace_back();
    layer.residual = part(residual);
    layer.predicted = part(predicted);
    layer.scalars = {scalar(1.025), scalar(1.1), scalar(-0.3), scalar(-0.6)};
    layer.signals = surprise_gate(layer.residual, layer.predicted, layer.scalars, {.window = 4});
    layer.score = layer.signals.score;
    layer.target = part(logits).gt(0);
    layer.executed = layer.target;
    layer.logits = part(logits);
    return record;
  };
  const auto statistics = [](const ModelOptions& o, const RoutingRecord& r) {
    return routing_statistics(o, r, r);
  };

  const std::vector<RoutingStatistic> together = statistics(fused, record_of(0, kCells));
  for (std::int64_t e = 0; e < kCells; ++e) {
    for (const RoutingStatistic& own : statistics(alone, record_of(e, 1))) {
      const auto width = static_cast<std::size_t>(own.width);
      const std::size_t at = static_cast<std::size_t>(e * fused.layers) * width;
      for (std::size_t i = 0; i < width; ++i) {
        const double a = find(together, own.name).values.at(at + i), b = own.values.at(i);
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << own.name;
      }
    }
  }
}

TEST(RoutingStatistics, ARouterThatRanksLikeTheTeacherHasAnAreaOfOne) {
  ModelOptions o = small_options("tdt");
  o.routing.layers = {1};
  RoutingRecord record;
  LayerRouting& layer = record.layers.emplace_back();
  layer.layer = 1;
  layer.residual = at::randn({1, 2, 8, o.width});
  layer.predicted = layer.residual * 0.5;
  const auto scalar = [](double v) { return at::tensor({v}, at::kFloat).view({1, 1}); };
  layer.scalars = {scalar(1.025), scalar(1.1), scalar(-0.3), scalar(-0.6)};
  layer.signals = surprise_gate(layer.residual, layer.predicted, layer.scalars, {.window = 4});
  layer.score = layer.signals.score;
  const at::Tensor up = at::tensor({0, 0, 0, 0, 1, 1, 1, 1}, at::kLong).view({1, 1, 8});
  layer.target = up.expand({1, 2, 8}).gt(0);
  layer.executed = layer.target;
  layer.logits = at::tensor({-4., -3., -2., -1., 1., 2., 3., 4.}).view({1, 1, 8}).expand({1, 2, 8});

  const std::vector<RoutingStatistic> s = routing_statistics(o, record, record);

  EXPECT_EQ(s.size(), routing_statistic_rows(o).size());
  EXPECT_NEAR(find(s, "router_auc").values[1], 1, 1e-12);
  EXPECT_NEAR(find(s, "router_accuracy").values[1], 1, 1e-12);
  EXPECT_NEAR(find(s, "router_f1").values[1], 1, 1e-12);
  EXPECT_NEAR(find(s, "routing_capacity").values[1], 0.5, 1e-12);
  EXPECT_NEAR(find(s, "tpn_skill").values[1], 0.75, 1e-6);
  EXPECT_NEAR(find(s, "tpn_cosine").values[1], 1, 1e-6);
  EXPECT_NEAR(find(s, "tdt_o_ce").values[1], 1.025, 1e-6);
  EXPECT_GT(find(s, "tdt_d_st_p99").values[1], find(s, "tdt_d_st_p50").values[1]);
  EXPECT_NEAR(find(s, "router_topk_recall").values[1], 1, 1e-12);
  EXPECT_TRUE(std::isnan(find(s, "router_auc").values[0]));
  EXPECT_TRUE(std::isnan(find(s, "router_auc").values[2]));
}

TEST(RoutingStatistics, ByPositionTiesAndBinsAreThoseOfAKnownMask) {
  ModelOptions o = small_options("tdt");
  o.routing.layers = {0};
  RoutingRecord record;
  LayerRouting& layer = record.layers.emplace_back();
  const auto row = [](const std::vector<double>& x) { return at::tensor(x).view({1, 1, -1}); };
  std::vector<double> up(20, 0), score(20, 1), probability(20, -1);
  for (const std::size_t t : {0, 1, 2, 19}) up[t] = 1;
  for (const std::size_t t : {0, 1, 2, 19}) score[t] = t == 19 ? 3 : 2;
  score[7] = score[12] = 2;              // as good as the worst selected one
  probability[19] = probability[5] = 1;  // σ = .73
  layer.target = row(up).gt(0);
  layer.executed = layer.target;
  layer.score = row(score);
  layer.logits = row(probability);
  layer.residual = at::randn({1, 1, 20, o.width});
  layer.predicted = layer.residual * 0.5;
  const auto scalar = [](double v) { return at::tensor({v}, at::kFloat).view({1, 1}); };
  layer.scalars = {scalar(1.025), scalar(1.1), scalar(-0.3), scalar(-0.6)};
  layer.signals = surprise_gate(layer.residual, layer.predicted, layer.scalars, {.window = 4});

  const std::vector<RoutingStatistic> s = routing_statistics(o, record, record);

  EXPECT_EQ(find(s, "tdt_ties").values[0], 2);
  const std::vector<double>& by_position = find(s, "routing_rate_position").values;
  EXPECT_EQ(by_position[0], 1);
  EXPECT_EQ(by_position[1], 0.5);
  EXPECT_EQ(by_position[2], 0);
  EXPECT_EQ(by_position[9], 0.5);
  const std::vector<double>& rate = find(s, "router_reliability").values;
  EXPECT_EQ(rate[7], 0.5);                // tokens 5 and 19
  EXPECT_NEAR(rate[2], 3.0 / 18, 1e-12);  // σ(-1) = .27
  EXPECT_TRUE(std::isnan(rate[5]));
  double all = 0;
  for (std::size_t i = 0; i < 32; ++i) all += find(s, "tdt_g_histogram").values[i];
  EXPECT_NEAR(all, 1, 1e-12);
}

}  // namespace calibration_test
}  // namespace depthgrid::testing
