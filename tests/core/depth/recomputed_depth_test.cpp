// Gradients of a depth that is computed again in its backward pass, against plain ones.
#include "core/depth/recomputed_depth.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"
#include "core/depth/treeverse.hpp"

namespace depthgrid {
namespace recomputed_depth_test {

constexpr std::int64_t kCells = 2, kWidth = 6;

/// f = a tanh(x W + t b + c + u V), with a time-dependent part that autograd reaches by a branch of
/// its own; W made from a parameter before the solve. Counts its evaluations.
class Net final : public VectorField {
 public:
  struct Parameters {
    at::Tensor a, w, b, c, v;
    std::vector<at::Tensor> all() const { return {a, w, b, c, v}; }
  };
  static Parameters drawn(at::ScalarType dtype) {
    torch::manual_seed(3);
    const auto draw = [&](std::vector<std::int64_t> size, double scale) {
      return (scale * torch::randn(size, at::kDouble)).to(dtype).requires_grad_();
    };
    return {draw({kCells, 1}, 1), draw({kCells, kWidth, kWidth}, 0.4),
            draw({kCells, 1, 1, kWidth}, 1), draw({kCells, 1, 1, kWidth}, 0.3),
            draw({kCells, 2, kWidth}, 0.5)};
  }

  explicit Net(const Parameters& p) : p_(p), w_(p.w * 1.5) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    ++evaluations;
    const at::Tensor e = per_cell(at.t.to(x.scalar_type()), x) * p_.b.sin() + p_.c;
    at::Tensor in = at::matmul(x, w_.unsqueeze(1)) + e;
    if (u.u.defined()) in = in + at::matmul(u.u, p_.v.unsqueeze(1));
    const at::Tensor f = per_cell(p_.a.squeeze(1), x) * in.tanh();
    const at::Tensor chosen = at.decided.defined() ? at.decided : f.sum(-1).gt(0);
    decided.push_back(at.decided.defined());
    FieldValue out{f + f.sin(), {}};
    if (loses) out.losses = {{}, (f * chosen.unsqueeze(-1)).pow(2).sum({1, 2, 3})};
    out.decided = chosen;
    return out;
  }

  mutable std::int64_t evaluations = 0;
  mutable std::vector<bool> decided;
  bool loses = false;

 private:
  Parameters p_;
  at::Tensor w_;
};

struct Solve {
  at::Tensor end;
  std::vector<at::Tensor> gradients;  // of x, u and the parameters
  std::int64_t forward = 0, backward = 0;
};

struct Setting {
  std::string method = "euler";
  std::int64_t steps = 5;
  GradientPlan plan = {};
  at::ScalarType dtype = at::kFloat;
  bool loses = false;
};

Solve solved(const Setting& s) {
  const Net::Parameters p = Net::drawn(s.dtype);
  torch::manual_seed(5);
  const at::Tensor x =
      torch::randn({kCells, 3, 4, kWidth}, at::kDouble).to(s.dtype).requires_grad_();
  const at::Tensor u = torch::randn({kCells, 3, 4, 2}, at::kDouble).to(s.dtype).requires_grad_();
  const at::Tensor out = torch::randn({kCells, 3, 4, kWidth}, at::kDouble).to(s.dtype);
  auto field = std::make_shared<Net>(p);
  field->loses = s.loses;
  const FieldPtr owned = field;
  std::vector<at::Tensor> losses(s.loses ? 2 : 0);
  const DepthPass pass{.losses = s.loses ? &losses : nullptr};
  std::unique_ptr<DepthMethod> method = std::make_unique<DepthIntegrator>(stepper(s.method));
  if (s.plan.mode != GradientMode::Plain) {
    method = std::make_unique<RecomputedDepth>(stepper(s.method), s.plan, nullptr);
  }
  Solve r;
  r.end = method->solve(*owned, flow_grid(kCells, s.steps, s.dtype), x, {u}, pass);
  method.reset();  // as after a forward pass
  r.forward = field->evaluations;
  at::Tensor loss = (r.end * out).sum();
  if (s.loses) loss = loss + (0.7 * losses[1]).sum();
  std::vector<at::Tensor> inputs = {x, u};
  for (const at::Tensor& t : p.all()) inputs.push_back(t);
  loss.backward();
  r.backward = field->evaluations - r.forward;
  for (const at::Tensor& t : inputs) r.gradients.push_back(t.grad());
  return r;
}

double worst(const Solve& a, const Solve& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const double size = b.gradients[i].norm().item<double>();
    out = std::max(out, (a.gradients[i] - b.gradients[i]).norm().item<double>() / size);
  }
  return out;
}

using Case = std::tuple<std::string, std::int64_t, std::int64_t>;
class Checkpointed : public ::testing::TestWithParam<Case> {};

TEST_P(Checkpointed, GradientsHaveThePlainBitsAndTheExactNumberOfEvaluations) {
  const auto& [method, steps, slots] = GetParam();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const bool loses : {false, true}) {
      if (loses && method != "euler") continue;
      Setting s{method, steps, {}, dtype, loses};
      const Solve plain = solved(s);
      s.plan = {GradientMode::Checkpoint, slots};
      const Solve kept = solved(s);
      EXPECT_TRUE(torch::equal(kept.end, plain.end));
      for (std::size_t i = 0; i < plain.gradients.size(); ++i) {
        EXPECT_TRUE(torch::equal(kept.gradients[i], plain.gradients[i])) << "input " << i;
      }
      EXPECT_EQ(kept.forward, plain.forward);
      if (method == "ab2" || method == "reversible_heun") continue;  // their first step costs more
      const std::int64_t again = treeverse::advances(steps, std::min(slots, steps)) - (steps - 1);
      EXPECT_EQ(kept.backward, stepper(method).evaluations(again + steps));
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* method :
       {"euler", "midpoint", "heun", "rk4", "rk4_38", "dopri5", "ab2", "reversible_heun"}) {
    for (const std::int64_t steps : {1, 2, 5, 8}) {
      for (const std::int64_t slots : {1, 2, 3, 8}) out.emplace_back(method, steps, slots);
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Methods, Checkpointed, ::testing::ValuesIn(cases()), [](const auto& p) {
  return std::get<0>(p.param) + "_" + std::to_string(std::get<1>(p.param)) + "_" +
         std::to_string(std::get<2>(p.param));
});

TEST(Checkpointed, CountsAreThoseOfTheLiterature) {
  const auto advanced = [](std::int64_t steps, std::int64_t slots) {
    const Solve r = solved({"euler", steps, {GradientMode::Checkpoint, slots}});
    return r.forward - 1 + r.backward - steps;  // the sweep, and what is advanced again
  };
  EXPECT_EQ(advanced(16, 4), 27);
  EXPECT_EQ(advanced(32, 5), 68);
  EXPECT_EQ(advanced(64, 6), 156);
  EXPECT_EQ(advanced(8, 1), 28);
}

/// f = −a x, a by cell.
class Decay final : public VectorField {
 public:
  explicit Decay(at::Tensor rate) : rate_(std::move(rate)) {}
  FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
    return {.dx = -rate_.view({-1, 1, 1, 1}) * x};
  }

 private:
  at::Tensor rate_;
};

TEST(Reversible, WhatCannotBeUndoneHasNoGradient) {
  const at::Tensor rate = torch::tensor({0.5, 90.0}).requires_grad_();
  const FieldPtr field = std::make_shared<Decay>(rate);
  const at::Tensor x = torch::randn({kCells, 2, 3, kWidth}).requires_grad_();
  const RecomputedDepth method(stepper("reversible_heun"), {GradientMode::Reversible}, nullptr);
  method.solve(*field, flow_grid(kCells, 32, at::kFloat), x, {}).sum().backward();
  for (const at::Tensor& g : {x.grad(), rate.grad()}) {
    EXPECT_TRUE(g[0].isfinite().all().item<bool>());
    EXPECT_TRUE(g[1].isnan().all().item<bool>());
  }
}

TEST(Reversible, GradientsAreThoseOfItsOwnMap) {
  for (const auto& [dtype, bound] : {std::pair{at::kDouble, 1e-10}, std::pair{at::kFloat, 1e-5}}) {
    for (const std::int64_t steps : {1, 2, 4, 16, 64}) {
      const Solve plain = solved({"reversible_heun", steps, {}, dtype});
      const Solve undone = solved({"reversible_heun", steps, {GradientMode::Reversible}, dtype});
      EXPECT_TRUE(torch::equal(undone.end, plain.end));
      EXPECT_LT(worst(undone, plain), bound) << steps << " steps";
      EXPECT_EQ(undone.forward, steps + 1);
      EXPECT_EQ(undone.backward, 2 * steps + 1);
    }
  }
}

TEST(Adjoint, ApproximatesAndTheErrorFallsWithTheMethodsOrder) {
  const auto error = [](const char* method, std::int64_t steps) {
    const Solve plain = solved({method, steps, {}, at::kDouble});
    const Solve adjoint = solved({method, steps, {GradientMode::Adjoint}, at::kDouble});
    EXPECT_TRUE(torch::equal(adjoint.end, plain.end));
    EXPECT_EQ(adjoint.backward, plain.forward);
    return worst(adjoint, plain);
  };
  EXPECT_GT(error("euler", 4), 0.01);
  EXPECT_NEAR(error("euler", 64) / error("euler", 128), 2, 0.3);
  EXPECT_NEAR(error("midpoint", 32) / error("midpoint", 64), 4, 1);
  EXPECT_NEAR(std::log2(error("rk4", 16) / error("rk4", 32)), 4, 0.6);
}

TEST(RecomputedDepth, WhatTheFieldDecidedIsKept) {
  const Net::Parameters p = Net::drawn(at::kFloat);
  auto field = std::make_shared<Net>(p);
  field->loses = true;
  std::vector<at::Tensor> losses(2);
  const RecomputedDepth method(stepper("euler"), {GradientMode::Checkpoint, 2}, nullptr);
  const at::Tensor x = torch::randn({kCells, 3, 4, kWidth}).requires_grad_();
  const at::Tensor end =
      method.solve(*field, flow_grid(kCells, 6, at::kFloat), x, {}, {.losses = &losses});
  (end.sum() + losses[1].sum()).backward();
  for (std::size_t i = 0; i < field->decided.size(); ++i) EXPECT_EQ(field->decided[i], i >= 6);
}

TEST(RecomputedDepth, OneBackwardPassOverTwoSignalsIsTwoPasses) {
  const Net::Parameters p = Net::drawn(at::kDouble);
  const at::Tensor x = torch::randn({kCells, 3, 4, kWidth}, at::kDouble);
  const auto loss = [&](const GradientPlan& plan, const char* name, double u) {
    const FieldPtr field = std::make_shared<Net>(p);
    const RecomputedDepth method(stepper(name), plan, nullptr);
    const Control signal{torch::full({kCells, 1, 1, 2}, u, at::kDouble)};
    return method.solve(*field, flow_grid(kCells, 4, at::kDouble), x, signal).pow(2).sum();
  };
  const auto taken = [&] {
    std::vector<at::Tensor> out;
    for (const at::Tensor& t : p.all()) {
      out.push_back(t.grad().clone());
      t.mutable_grad().reset();
    }
    return out;
  };
  const std::pair<GradientPlan, const char*> modes[] = {
      {{GradientMode::Plain}, "euler"},
      {{GradientMode::Checkpoint, 2}, "euler"},
      {{GradientMode::Reversible}, "reversible_heun"},
      {{GradientMode::Adjoint}, "euler"}};
  for (const auto& [plan, name] : modes) {
    (loss(plan, name, 1) + loss(plan, name, -1)).backward();
    const std::vector<at::Tensor> joint = taken();
    loss(plan, name, 1).backward();
    loss(plan, name, -1).backward();
    const std::vector<at::Tensor> each = taken();
    for (std::size_t i = 0; i < joint.size(); ++i) {
      EXPECT_LT((joint[i] - each[i]).norm().item<double>(), 1e-12 * each[i].norm().item<double>());
    }
  }
}

TEST(RecomputedDepth, IsRefusedWhereItHasNoGradient) {
  using enum GradientMode;
  EXPECT_THROW(RecomputedDepth(stepper("euler"), {Reversible}, nullptr), Error);
  EXPECT_THROW(RecomputedDepth(stepper("reversible_heun"), {Adjoint}, nullptr), Error);
  const Net on_stack(Net::drawn(at::kFloat));
  const RecomputedDepth method(stepper("euler"), {Checkpoint, 2}, nullptr);
  const at::Tensor x = torch::randn({kCells, 3, 4, kWidth}).requires_grad_();
  const DepthGrid grid = flow_grid(kCells, 4, at::kFloat);
  EXPECT_THROW(method.solve(on_stack, grid, x, {}), Error);

  const FieldPtr field = std::make_shared<Net>(Net::drawn(at::kFloat));
  const at::Tensor loss = method.solve(*field, grid, x, {}).sum();
  EXPECT_THROW(torch::autograd::grad({loss}, {x}, {}, true, /*create_graph=*/true), Error)
      << "a second derivative would be wrong";
}

}  // namespace recomputed_depth_test
}  // namespace depthgrid
