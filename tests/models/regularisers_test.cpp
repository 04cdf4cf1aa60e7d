// Regularisers of the depth against fields whose Jacobians are known, and against finite
// differences in whole models.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/depth/integrator.hpp"
#include "models/control_secant.hpp"
#include "models/regularisers/penalised_stepper.hpp"
#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace regularisers_test {

using enum Regulariser;

constexpr std::int64_t kCells = 2, kRows = 3, kTokens = 4, kWidth = 5;

at::Tensor random(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed), at::kDouble);
}

/// f(x) = x A + c for every token; A (E, C, C) row by row, and g x A if it grows with time.
class LinearField final : public VectorField {
 public:
  explicit LinearField(at::Tensor matrix, at::Tensor constant = {}, bool timed = false)
      : a_(std::move(matrix)), c_(std::move(constant)), timed_(timed) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    at::Tensor f = at::matmul(x, a_.unsqueeze(1));
    if (timed_) f = f * at.t.view({-1, 1, 1, 1});
    if (c_.defined()) f = f + c_;
    return {.dx = f};
  }

 private:
  at::Tensor a_, c_;
  bool timed_;
};

RegulariserOptions options_of(const std::vector<Regulariser>& kinds, std::int64_t iterations = 8) {
  ModelOptions o;
  o.cells = kCells;
  with_regularisers(o, kinds);
  o.regularisers.iterations = iterations;
  return o.regularisers;
}

/// The regularisers' mean over tokens of a solve, (E) each.
std::vector<at::Tensor> regularised(const VectorField& field, const RegulariserOptions& o,
                                    const at::Tensor& x, const char* method, std::int64_t steps,
                                    std::int64_t draw = 1,
                                    std::shared_ptr<DirectionRecord> record = {}) {
  static const std::vector<std::uint64_t> seeds = {3, 4};
  const ForwardContext context{
      .training = true, .step = draw, .seeds = &seeds, .directions = std::move(record)};
  std::vector<at::Tensor> starts;
  for (std::size_t i = 0; i < o.directed().size(); ++i) {
    starts.push_back(random({kCells, kTokens, kWidth}, 90 + i).requires_grad_(true));
  }
  const PenalisedStepper penalised(stepper(method), o, starts, context);
  std::vector<at::Tensor> losses(o.terms.size() + starts.size());
  const DepthPass pass{.losses = &losses};
  DepthIntegrator(penalised).solve(field, flow_grid(kCells, steps, at::kDouble), x, {}, pass);
  losses.resize(o.terms.size());
  for (at::Tensor& loss : losses) loss = loss / static_cast<double>(x.size(1) * x.size(2));
  return losses;
}

double off(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs() / b.abs().clamp_min(1e-12)).max().item<double>();
}

at::Tensor matrix(double size = 0.4) {
  return random({kCells, kWidth, kWidth}, 11) * size;
}

at::Tensor state() {
  return random({kCells, kRows, kTokens, kWidth}, 12);
}

TEST(Regularisers, OfAConstantFieldAreItsSquare) {
  const at::Tensor c = random({kCells, 1, 1, kWidth}, 13);
  const LinearField field(at::zeros({kCells, kWidth, kWidth}, at::kDouble), c);
  const at::Tensor square = c.square().mean(-1).view({kCells});
  for (const char* method : {"euler", "midpoint", "rk4", "ab2", "reversible_heun"}) {
    const auto found =
        regularised(field, options_of({Energy, Kinetic, Acceleration}), state(), method, 4);
    const auto evaluations = static_cast<double>(stepper(method).evaluations(4));
    EXPECT_LT(off(found[0], evaluations * square), 1e-12) << method;
    EXPECT_LT(off(found[1], square / 2), 1e-12) << method;
    EXPECT_LT(found[2].abs().max().item<double>(), 1e-24) << method;
  }
}

TEST(Regularisers, EnergiesOfStepsAreTheirSums) {
  const at::Tensor a = matrix();
  const LinearField field(a, {}, true);
  const auto found =
      regularised(field, options_of({Energy, Kinetic, Acceleration}), state(), "euler", 4);
  at::Tensor x = state(), energy, kinetic, acceleration;
  const auto add = [](at::Tensor& to, const at::Tensor& square) {
    const at::Tensor mean = square.mean({1, 2, 3});
    to = to.defined() ? to + mean : mean;
  };
  const auto f = [&](const at::Tensor& y, double t) { return at::matmul(y, a.unsqueeze(1)) * t; };
  for (int i = 0; i < 4; ++i) {
    const double t = i / 4.0;
    const at::Tensor now = f(x, t), after = x + now / 4;
    add(energy, now.square());
    add(kinetic, now.square() / 8);
    add(acceleration, ((f(after, t + 0.25) - now) * 4).square() / 8);
    x = after;
  }
  EXPECT_LT(off(found[0], energy), 1e-12);
  EXPECT_LT(off(found[1], kinetic), 1e-12);
  EXPECT_LT(off(found[2], acceleration), 1e-12);
}

TEST(Regularisers, NormsOfALinearFieldAreThoseOfItsMatrix) {
  const at::Tensor a = matrix();
  const LinearField field(a);
  const at::Tensor largest = std::get<1>(at::linalg_svd(a)).select(-1, 0);
  const at::Tensor growth =
      at::linalg_eigvalsh((a + a.transpose(-1, -2)) / 2).select(-1, kWidth - 1);
  for (const char* method : {"euler", "rk4", "ab2", "reversible_heun"}) {
    const auto found = regularised(field, options_of({SpectralNorm, LogNorm}), state(), method, 3);
    EXPECT_LT(off(found[0], largest), 1e-6) << method;
    EXPECT_LT(off(found[1], (growth + 1).relu().square()), 1e-6) << method;  // margin −1
  }
}

TEST(Regularisers, NegativeGrowthIsFound) {
  const at::Tensor damped =
      -at::matmul(matrix(), matrix().transpose(-1, -2)) - 0.1 * at::eye(kWidth, at::kDouble);
  const at::Tensor growth = at::linalg_eigvalsh(damped).select(-1, kWidth - 1);
  ASSERT_LT(growth.max().item<double>(), 0);
  // More steps than the space has dimensions: what is left over is no direction.
  const auto found =
      regularised(LinearField(damped), options_of({LogNorm}, 16), state(), "euler", 2);
  EXPECT_LT(off(found[0], (growth + 1).relu().square()), 1e-6);
}

TEST(Regularisers, DrawsHaveTheNormOfTheMatrixOnAverage) {
  const at::Tensor a = matrix();
  const LinearField field(a);
  const at::Tensor norm = a.square().sum({1, 2}) / kWidth;
  std::vector<at::Tensor> spread;
  for (const bool gaussian : {false, true}) {
    RegulariserOptions o = options_of({JacobianFrobenius});
    o.gaussian = gaussian;
    std::vector<at::Tensor> all;
    for (std::int64_t draw = 1; draw <= 512; ++draw) {
      all.push_back(regularised(field, o, state(), "euler", 1, draw)[0].detach());
    }
    const at::Tensor values = at::stack(all);
    const at::Tensor error = values.std(0) / std::sqrt(512.0);
    EXPECT_LT(((values.mean(0) - norm).abs() / error).max().item<double>(), 3.5) << gaussian;
    spread.push_back(values.var(0));
  }
  EXPECT_TRUE((spread[0] < spread[1]).all().item<bool>());
}

TEST(Regularisers, OneStepOfLanczosFollowsAlongTheDepth) {
  const LinearField field(matrix());
  const at::Tensor exact = std::get<1>(at::linalg_svd(matrix())).select(-1, 0);
  const auto error = [&](std::int64_t iterations, std::int64_t steps) {
    return off(
        regularised(field, options_of({SpectralNorm}, iterations), state(), "euler", steps)[0],
        exact);
  };
  EXPECT_GT(error(1, 1), 1e-3);
  EXPECT_LT(error(1, 32), error(1, 1) / 8);
  EXPECT_LT(error(4, 2), 1e-3);
}

/// Training losses of a model in float64, weighted, by term.
struct RegularisedModel {
  Built built;
  CellLanguageModel language;
  at::Tensor windows;

  explicit RegularisedModel(const ModelOptions& o)
      : built(built_and_moved(o, at::kDouble)),
        language(*built.model, built.seeds),
        windows(at::randint(0, o.vocabulary, {o.cells, 2, 7},
                            at::make_generator<at::CPUGeneratorImpl>(5), at::kLong)) {}

  std::vector<at::Tensor> parts() { return language.losses({windows, 3}).parts; }
  at::Tensor part(std::size_t i) { return parts().at(i).sum(); }

  /// Largest deviations from central differences along random directions, by term.
  std::vector<double> off_by() {
    language.hold_directions({windows, 3});
    std::vector<at::Tensor> gradients;
    for (std::size_t i = 0; i < built.options.regularisers.terms.size(); ++i) {
      built.arena->zero_gradients();
      part(i).backward();
      gradients.push_back(built.arena->gradients().clone());
    }
    const at::NoGradGuard no_grad;
    std::vector<double> worst(gradients.size(), 0);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const at::Tensor along = random(built.arena->values().sizes(), seed);
      for (const ParameterSlot& slot : built.arena->layout().slots()) {
        if (slot.spec.average) slot_view(along, slot).zero_();
      }
      const auto moved = [&](double by) {
        built.arena->values().add_(along * by);
        std::vector<at::Tensor> out = parts();
        built.arena->values().sub_(along * by);
        return out;
      };
      const std::vector<at::Tensor> up = moved(1e-5), down = moved(-1e-5);
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        const double a = (gradients[i] * along).sum().item<double>();
        const double n = (up[i] - down[i]).sum().item<double>() / 2e-5;
        worst[i] = std::max(worst[i], std::abs(a - n) / std::max(std::abs(a), 1e-8));
      }
    }
    return worst;
  }
};

TEST(Regularisers, GradientsAreThoseOfDifferences) {
  for (const char* family : {"hybrid_ode", "time_indexed", "tong"}) {
    for (const GradientPlan plan : {GradientPlan{}, {GradientMode::Checkpoint, 1}}) {
      ModelOptions o = small_options(family, 1);
      o.time.nodes.assign(1, Nodes::Left);
      o.modulation.activation = Activation::Silu;
      o.modulation.hidden = 8;
      o.gradient = plan;
      std::vector<Regulariser> kinds = {Energy,       Kinetic, Acceleration, JacobianFrobenius,
                                        SpectralNorm, LogNorm};
      if (o.flow.replaced() > 0) {
        with_control(o, 3);
        kinds.push_back(ControlSmoothness);
      }
      with_regularisers(o, kinds);
      RegularisedModel model(o);
      const std::vector<double> off = model.off_by();
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        EXPECT_LT(off[i], 1e-5) << family << " " << model.language.loss_parts()[i];
      }
    }
  }
}

TEST(Regularisers, ABandIsLeftAloneInside) {
  ModelOptions o = small_options("hybrid_ode", 1);
  with_control(o, 3);
  with_regularisers(o, {ControlSmoothness});
  const auto penalty = [&](double low, double high) {
    o.regularisers.band_low = {low};
    o.regularisers.band_high = {high};
    RegularisedModel model(o);
    return model.part(0).item<double>() / 12;  // tokens
  };
  const double slope = std::sqrt(penalty(0, 0));  // of two sequences, by root mean square
  EXPECT_GT(slope, 1e-3);
  EXPECT_EQ(penalty(0, 10 * slope), 0);
  EXPECT_GT(penalty(10 * slope, 20 * slope), 0);
  // Where the signal moves nothing, the gradient is finite.
  RegularisedModel model(o);
  {
    const at::NoGradGuard no_grad;
    model.built.parameter("flow.control.weight").zero_();
  }
  model.part(0).backward();
  EXPECT_TRUE(model.built.arena->gradients().isfinite().all().item<bool>());
}

TEST(Regularisers, DirectionsAreAveragedForTheNextBatch) {
  ModelOptions o = small_options("hybrid_ode", 2);
  with_regularisers(o, {SpectralNorm});
  Built built(o, seeds_of(o));
  CellLanguageModel language(*built.model, built.seeds);
  const at::Tensor windows = at::randint(0, o.vocabulary, {2, 4, 7},
                                         at::make_generator<at::CPUGeneratorImpl>(5), at::kLong);
  const auto held = language.hold_directions({windows, 1});
  const Objective::Losses losses = language.losses({windows, 1});
  ASSERT_EQ(losses.parts.size(), 1u);
  EXPECT_EQ(language.loss_parts(), (std::vector<std::string_view>{"spectral_norm"}));
  losses.total.backward(at::ones({2}) / (4.0 * 6));
  const std::string name = "regularisers.spectral_norm.direction";
  const at::Tensor seen = slot_view(built.arena->gradients(), built.arena->layout().find(name));
  const at::Tensor start = built.parameter(name).narrow(1, 0, 6);
  const at::Tensor first = held->of_step.at(0).at(0);  // (E, B, T, C)
  const at::Tensor sign =
      ((first * start.unsqueeze(1)).sum({2, 3}, true).ge(0).to(at::kFloat) * 2 - 1);
  EXPECT_LT((seen.narrow(1, 0, 6) - (first * sign).mean(1)).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(seen.narrow(1, 6, 3).abs().max().item<double>(), 0);
}

}  // namespace regularisers_test
}  // namespace depthgrid::testing
