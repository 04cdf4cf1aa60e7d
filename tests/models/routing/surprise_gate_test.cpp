#include "models/routing/surprise_gate.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "models/ops/softplus.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid::testing {
namespace surprise_gate_test {

at::Tensor scalar(double value, at::ScalarType type = at::kDouble) {
  return at::full({1, 1}, value, type);
}

GateScalars defaults(at::ScalarType type = at::kDouble) {
  return {scalar(1.025, type), scalar(1.1, type), scalar(-0.3, type), scalar(-0.6, type)};
}

at::Tensor golden_residual() {
  return at::tensor({0.0, 0.0, 1.0, 1.0, 2.0, 0.0, 0.5, -0.5, 3.0, 1.0, 0.1, 0.2}, at::kDouble)
      .view({1, 1, 6, 2});
}

at::Tensor golden_prediction() {
  return at::tensor({0.0, 0.0, 0.5, 0.5, 2.0, 0.5, -0.5, 0.5, 0.0, 0.0, 0.1, 0.2}, at::kDouble)
      .view({1, 1, 6, 2});
}

void expect_near(const at::Tensor& ours, std::vector<double> theirs, double tolerance,
                 const char* name) {
  const at::Tensor want = at::tensor(theirs, at::kDouble).view({1, 1, -1});
  EXPECT_LT((ours.to(at::kDouble) - want).abs().max().item<double>(), tolerance) << name;
}

TEST(SurpriseGate, GoldenVector) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const double close = type == at::kFloat ? 2e-6 : 1e-8;
    const GateSignals s = surprise_gate(golden_residual().to(type), golden_prediction().to(type),
                                        defaults(type), {.window = 100});
    expect_near(s.d_st, {0, 1, 2, .25, 5, .025}, close, "d_st");
    expect_near(s.d_ch, {0, .25, .125, 1, 5, 0}, close, "d_ch");
    expect_near(s.ma, {0, .5, 1, .8125, 1.65, 1.379166666667}, close, "ma");
    expect_near(s.ce, {.02469261, .77469261, 1.89969261, -.72530739, .02469261, .04969261}, 2e-6,
                "ce");
    expect_near(s.cu, {0, .45, .9, -.64375, 3.185, -1.492083333333}, close, "cu");
    expect_near(s.s_ce, {.50342207, .60574350, .74137061, .40081319, .50342207, .50688640}, 2e-6,
                "s_ce");
    expect_near(s.s_cu, {.5, .54905905, .59718250, .43005350, .80113434, .34236594}, 2e-6, "s_cu");
    expect_near(s.gate, {.75171103, .82221360, .89581956, .65849558, .90124770, .67571170},
                type == at::kFloat ? 2e-6 : 1e-8, "gate");
    const auto chosen = [&](double gamma) {
      return top_k_mask(s.score, {capacity_of(gamma, 6)}).to(at::kDouble);
    };
    expect_near(chosen(0.5), {0, 1, 1, 0, 1, 0}, 0.5, "TopK of three");
    expect_near(chosen(0.25), {0, 0, 0, 0, 1, 0}, 0.5, "TopK of one");
  }
}

TEST(SurpriseGate, GoldenVectorOfAShortWindow) {
  const GateSignals s =
      surprise_gate(golden_residual(), golden_prediction(), defaults(), {.window = 3});

  expect_near(s.ma, {0, .5, 1, 1.08333333, 2.41666667, 1.75833333}, 1e-8, "ma");
  expect_near(s.gate, {.75171103, .82221360, .89581956, .63955340, .86882332, .65607239}, 1e-8,
              "gate");
}

TEST(SurpriseGate, GoldenGradientOfTheFourScalars) {
  GateScalars p = defaults();
  for (at::Tensor* t : {&p.o_ce, &p.m_cu, &p.beta_ce, &p.beta_cu}) t->requires_grad_(true);

  surprise_gate(golden_residual(), golden_prediction(), p, {.window = 100}).gate.mean().backward();

  EXPECT_NEAR(p.o_ce.grad().item<double>(), .0595723949, 1e-7);
  EXPECT_NEAR(p.m_cu.grad().item<double>(), -.0374789014, 1e-7);
  EXPECT_NEAR(p.beta_ce.grad().item<double>(), .0101677632, 1e-7);
  EXPECT_NEAR(p.beta_cu.grad().item<double>(), .0054152191, 1e-7);
  const auto mean = [&](at::Tensor GateScalars::* which, double by) {
    GateScalars moved = defaults();
    moved.*which = moved.*which + by;
    return surprise_gate(golden_residual(), golden_prediction(), moved, {.window = 100})
        .gate.mean()
        .item<double>();
  };
  const double h = 1e-5;
  for (const auto which :
       {&GateScalars::o_ce, &GateScalars::m_cu, &GateScalars::beta_ce, &GateScalars::beta_cu}) {
    const double slope = (mean(which, h) - mean(which, -h)) / (2 * h);
    EXPECT_NEAR(slope / (p.*which).grad().item<double>(), 1, 1e-4);
  }
}

TEST(SurpriseGate, OverItsLevelSurpriseHasNoUnit) {
  // States twice as large have surprises four times as large: their gates agree.
  const auto gate = [](double factor, double level) {
    return surprise_gate(golden_residual() * factor, golden_prediction() * factor, defaults(),
                         {.window = 3, .level = scalar(level)});
  };
  const GateSignals one = gate(1, 0.7), twice = gate(2, 2.8);
  EXPECT_LT((one.gate - twice.gate).abs().max().item<double>(), 1e-12);
  EXPECT_LT((one.score - twice.score).abs().max().item<double>(), 1e-12);
  expect_near(twice.d_st, {0, 4, 8, 1, 20, .1}, 1e-12, "d_st keeps its unit");
  const GateSignals plain =
      surprise_gate(golden_residual(), golden_prediction(), defaults(), {.window = 3});
  EXPECT_TRUE(at::equal(gate(1, 1).gate, plain.gate));
  EXPECT_GT((one.gate - plain.gate).abs().max().item<double>(), 1e-2);
  EXPECT_TRUE(gate(1, 0).gate.isfinite().all().item<bool>());
}

TEST(SurpriseGate, ConstantsOfTheStudy) {
  const at::Tensor betas = softplus(at::tensor({-0.3, -0.6}, at::kDouble));

  EXPECT_NEAR(betas[0].item<double>(), .5543552445, 1e-9);
  EXPECT_NEAR(betas[1].item<double>(), .4374879505, 1e-9);
}

TEST(SurpriseGate, APerfectPredictionAndTheFirstToken) {
  const at::Tensor x = at::randn({1, 2, 5, 3}, at::kDouble);

  const GateSignals perfect = surprise_gate(x, x, defaults(), {.window = 100});
  const GateSignals none = surprise_gate(x, x * 0, defaults(), {.window = 100});

  EXPECT_EQ(perfect.d_ch.abs().max().item<double>(), 0);
  const double log_o = std::log(1.025 + 1e-10);
  EXPECT_LT((perfect.ce - perfect.d_st - log_o).abs().max().item<double>(), 1e-12);
  EXPECT_LT((none.ce - log_o).abs().max().item<double>(), 1e-12);
  const at::Tensor first = none.cu.select(-1, 0) - (1 - 1.1) * none.d_st.select(-1, 0);
  EXPECT_LT(first.abs().max().item<double>(), 1e-12);
  const at::Tensor low = at::maximum(none.s_ce, none.s_cu);
  EXPECT_TRUE(none.gate.ge(low).all().item<bool>());
  EXPECT_TRUE(none.gate.le(none.s_ce + none.s_cu).all().item<bool>());
}

TEST(SurpriseGate, ExtremesStayFiniteAndRankAsInDoublePrecision) {
  for (const double scale : {1e3, 1e-4}) {
    const at::Tensor x = at::randn({1, 4, 64, 8}, at::kDouble) * scale;
    const at::Tensor y = x * 0.3;
    const GateSignals narrow =
        surprise_gate(x.to(at::kFloat), y.to(at::kFloat), defaults(at::kFloat), {.window = 100});
    const GateSignals wide = surprise_gate(x, y, defaults(), {.window = 100});
    const at::Tensor a = top_k_mask(narrow.score, {16}), b = top_k_mask(wide.score, {16});

    EXPECT_TRUE(narrow.gate.isfinite().all().item<bool>());
    EXPECT_TRUE(narrow.score.isfinite().all().item<bool>());
    EXPECT_EQ(a.sum().item<std::int64_t>(), 64);
    EXPECT_GE(a.eq(b).to(at::kDouble).mean().item<double>(), 0.99) << scale;
  }
}

TEST(MovingAverage, AnImpulseIsSeenForExactlyTheWindow) {
  at::Tensor d = at::zeros({1, 1, 300});
  d.select(-1, 50).fill_(3);

  const at::Tensor ma = moving_average(d, 100);

  for (std::int64_t t = 0; t < 300; ++t) {
    const double want =
        t < 50 || t > 149 ? 0 : 3.0 / static_cast<double>(std::min<std::int64_t>(t + 1, 100));
    EXPECT_NEAR(ma.select(-1, t).item<double>(), want, 1e-6) << t;
  }
  EXPECT_EQ(ma.select(-1, 150).item<double>(), 0);
}

TEST(MovingAverage, EqualsTheSumWrittenOutAndKnowsItsRowOnly) {
  const at::Tensor d = at::rand({2, 3, 20}, at::kDouble);
  for (const bool exclusive : {false, true}) {
    const at::Tensor ma = moving_average(d, 6, exclusive);
    for (std::int64_t t = 0; t < 20; ++t) {
      const std::int64_t end = exclusive ? t : t + 1, begin = std::max<std::int64_t>(0, end - 6);
      const at::Tensor want =
          end == 0 ? d.select(-1, 0) : d.narrow(-1, begin, end - begin).mean(-1);
      EXPECT_LT((ma.select(-1, t) - want).abs().max().item<double>(), 1e-12) << t;
    }
    EXPECT_TRUE(at::equal(moving_average(d.flip({1}), 6, exclusive), ma.flip({1})));
    EXPECT_TRUE(at::equal(moving_average(d, 6, exclusive), ma));
  }
}

TEST(TopK, CountsAreExact) {
  const std::vector<std::tuple<std::int64_t, double, std::int64_t>> cases = {
      {1, .25, 0}, {3, .25, 0}, {4, .25, 1}, {100, .29, 29},
      {10, .3, 3}, {10, .7, 7}, {7, 1, 7},   {1024, .125, 128}};
  for (const auto& [tokens, gamma, k] : cases) {
    EXPECT_EQ(capacity_of(gamma, tokens), k);
    const at::Tensor mask = top_k_mask(at::rand({1, 3, tokens}), {capacity_of(gamma, tokens)});
    EXPECT_TRUE(mask.sum(-1).eq(k).all().item<bool>()) << tokens << " " << gamma;
  }
  EXPECT_EQ(capacity_of(.25, 3, 1), 1);
}

TEST(TopK, TiesGoToTheTokensThatComeFirst) {
  for (const std::int64_t rows : {1, 3, 8}) {
    const at::Tensor mask = top_k_mask(at::full({1, rows, 16}, 0.7), {4});
    EXPECT_TRUE(mask.narrow(-1, 0, 4).all().item<bool>());
    EXPECT_EQ(mask.sum().item<std::int64_t>(), 4 * rows);
  }
}

TEST(TopK, RunningTakesScoresThatDifferByRoundingForEqual) {
  RoutingOptions o;
  o.capacity = {0.5};
  o.min_k = {1};
  const double eps = std::numeric_limits<float>::epsilon();
  for (const double noise : {-2 * eps, 0.0, 2 * eps}) {
    const at::Tensor score =
        at::tensor({2.0, 2.0 + noise, 2.0 - noise}, at::kFloat).view({1, 1, 3});
    const at::Tensor mask = running_top_k_mask(o, score);
    EXPECT_TRUE(at::equal(mask.flatten(), at::tensor({1, 0, 0}).to(at::kBool))) << noise;
  }
}

TEST(TopK, RunningEqualsASimulationAndIsNeverRevised) {
  RoutingOptions o;
  o.capacity = {0.25, 0.5};
  o.min_k = {0, 1};
  const at::Tensor score = (at::rand({2, 500, 64}) * 20).round();  // with ties

  const at::Tensor mask = running_top_k_mask(o, score);

  const auto s = score.accessor<float, 3>();
  const auto m = mask.accessor<bool, 3>();
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t b = 0; b < 500; ++b) {
      for (std::int64_t t = 0; t < 64; ++t) {
        std::int64_t above = 0;
        for (std::int64_t j = 0; j < t; ++j) above += s[e][b][j] >= s[e][b][t] ? 1 : 0;
        const auto i = static_cast<std::size_t>(e);
        ASSERT_EQ(m[e][b][t], above < capacity_of(o.capacity[i], t + 1, o.min_k[i]));
      }
    }
  }
  EXPECT_TRUE(at::equal(running_top_k_mask(o, score.narrow(-1, 0, 40)), mask.narrow(-1, 0, 40)));
}

}  // namespace surprise_gate_test
}  // namespace depthgrid::testing
