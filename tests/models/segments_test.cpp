// What a model runs is what its family's segments say: fields, methods, and methods that choose
// their own steps.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tanh.h>

#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/family.hpp"
#include "models/model.hpp"
#include "tests/support/small_options.hpp"

namespace depthgrid::testing {
namespace segments_test {

/// dx/dt = rate tanh(x + t).
class TanhField final : public VectorField {
 public:
  explicit TanhField(at::Tensor rate) : rate_(std::move(rate)) {}
  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    return {per_cell(rate_, x) * at::tanh(x + per_cell(at.t, x)), {}};
  }

 private:
  at::Tensor rate_;  // (E)
};

/// Two half steps for each step of its grid: a method that does not take the steps it is given.
class HalfSteps final : public DepthMethod {
 public:
  at::Tensor solve(const VectorField& field, const DepthGrid& grid, const at::Tensor& x0,
                   const Control& u, const DepthPass& pass) const override {
    const DepthGrid halves = flow_grid(x0.size(0), 2 * grid.steps(), grid.t.options());
    return DepthIntegrator(kMidpoint).solve(field, halves, x0, u, pass);
  }
};

/// Three fields, each under a method of its own.
class ThreeRuns final : public Family {
 public:
  ThreeRuns(ParameterSource& source, const ModelOptions& o) : cells_(o.cells) {
    for (const char* name : {"first", "second", "third"}) {
      rates_.push_back(source.parameter({.name = name, .shape = {1}, .init = {.fill = {0.7}}}));
    }
  }

  DepthGrid grid(const ForwardContext&) const override { return flow_grid(cells_, 3, at::kFloat); }

  std::vector<DepthSegment> segments(const ForwardContext&) const override {
    std::vector<DepthSegment> out;
    out.push_back(fixed_run(stepper("euler"), steps(1), field(0)));
    out.push_back({std::make_unique<HalfSteps>(), steps(2), field(1)});
    out.push_back(fixed_run(stepper("rk4"), steps(1), field(2)));
    return out;
  }

  at::Tensor rate(std::size_t i) const { return rates_[i].squeeze(1); }

 private:
  DepthGrid steps(std::int64_t m) const { return flow_grid(cells_, m, at::kFloat); }
  FieldPtr field(std::size_t i) const { return std::make_unique<TanhField>(rate(i)); }

  std::int64_t cells_;
  std::vector<at::Tensor> rates_;  // (E, 1) each
};

TEST(Segments, ThreeFieldsByThreeMethodsAreTheirComposition) {
  const ModelOptions o = small_options("standard", 2);
  const ThreeRuns* family = nullptr;
  const FamilyBuilder build = [&](ParameterSource& source, const ModelOptions& options) {
    auto made = std::make_unique<ThreeRuns>(source, options);
    family = made.get();
    return made;
  };
  ParameterLayout layout;
  Model(layout, o, build);
  Arena arena(std::move(layout), {3, 4}, at::kFloat);
  const Model model(arena, o, build);
  const at::Tensor tokens = at::randint(0, o.vocabulary, {2, 2, 7}, at::kLong);

  const at::Tensor states = model.states(tokens, {});
  const at::Tensor sum = states.sum();

  const at::NoGradGuard no_grad;
  const auto f = [&](std::size_t i, const at::Tensor& x, double t) {
    return family->rate(i).view({2, 1, 1, 1}) * at::tanh(x + t);
  };
  at::Tensor x = model.embed(tokens);
  x = x + f(0, x, 0);
  for (const double t : {0.0, 0.25, 0.5, 0.75}) x = x + f(1, x + f(1, x, t) / 8, t + 0.125) / 4;
  const at::Tensor k1 = f(2, x, 0), k2 = f(2, x + k1 / 2, 0.5), k3 = f(2, x + k2 / 2, 0.5),
                   k4 = f(2, x + k3, 1);
  x = x + (k1 + 2 * k2 + 2 * k3 + k4) / 6;
  EXPECT_TRUE(at::allclose(states, x, 1e-5, 1e-6));

  sum.backward();
  for (const char* name : {"first", "second", "third"}) {
    const at::Tensor gradient = slot_view(arena.gradients(), arena.layout().find(name));
    EXPECT_TRUE(gradient.ne(0).all().item<bool>()) << name;
  }
}

}  // namespace segments_test
}  // namespace depthgrid::testing
