#include "core/depth/integrator.hpp"

#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include <ATen/record_function.h>
#include <torch/types.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/observer.hpp"

namespace depthgrid {
namespace integrator_test {

/// dx/dt = rate(t) x with rate = 1 + 2 t s, s per cell: x(1) = x(0) exp(1 + s).
class LinearField final : public VectorField {
 public:
  explicit LinearField(at::Tensor slope, bool sequential = false)
      : slope_(std::move(slope)), sequential_(sequential) {}
  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    return {per_cell(1 + 2 * at.t * slope_, x) * x, {}};
  }
  bool depends_on_h() const override { return sequential_; }

 private:
  at::Tensor slope_;  // (E)
  bool sequential_;
};

double error_with(const Tableau& method, const DepthGrid& grid) {
  const LinearField field(torch::ones({1}, at::kDouble));
  const at::Tensor x =
      DepthIntegrator(method).solve(field, grid, torch::ones({1, 1, 1, 1}, at::kDouble), {});
  return std::abs(x.item<double>() - std::exp(2.0));
}

class ConvergenceOrder : public ::testing::TestWithParam<const char*> {};

TEST_P(ConvergenceOrder, MatchesTheTableauOnAFlow) {
  const Tableau& method = tableau(GetParam());
  const double coarse = error_with(method, flow_grid(1, 32, at::kDouble));

  const double fine = error_with(method, flow_grid(1, 64, at::kDouble));

  EXPECT_NEAR(std::log2(coarse / fine), method.order, 0.15);
}

INSTANTIATE_TEST_SUITE_P(Methods, ConvergenceOrder,
                         ::testing::Values("euler", "midpoint", "heun", "rk4", "rk4_38", "bosh3"),
                         [](const auto& p) { return std::string(p.param); });

TEST(DepthGrid, StagesGoByTheNodesDistanceNotByTheResidualScale) {
  const DepthGrid half = layer_grid({Nodes::Left}, 64, torch::full({1, 1}, 1.0 / 64, at::kDouble));
  EXPECT_NEAR(error_with(kRk4, half), error_with(kRk4, flow_grid(1, 64, at::kDouble)), 1e-13);

  // A residual scale of c/L is the flow of c F, whatever the nodes: exp(c (1 + s)) with c = 3.
  const DepthGrid triple =
      layer_grid({Nodes::Left}, 128, torch::full({1, 1}, 3.0 / 128, at::kDouble));
  const LinearField field(torch::ones({1}, at::kDouble));
  const at::Tensor x =
      DepthIntegrator(kRk4).solve(field, triple, torch::ones({1, 1, 1, 1}, at::kDouble), {});
  EXPECT_NEAR(x.item<double>() / std::exp(6.0), 1, 1e-6);
}

TEST(Integrator, RefusesMethodsThatTheFieldOrTheGridCannotRun) {
  const LinearField sequential(torch::ones({1}, at::kDouble), true);
  const LinearField plain(torch::ones({1}, at::kDouble));
  const at::Tensor x = torch::ones({1, 1, 1, 1}, at::kDouble);
  const DepthGrid right = layer_grid({Nodes::Right}, 4, torch::ones({1, 1}, at::kDouble));

  EXPECT_THROW(DepthIntegrator(kRk4).solve(sequential, flow_grid(1, 4, at::kDouble), x, {}), Error);
  EXPECT_THROW(DepthIntegrator(kRk4).solve(plain, right, x, {}), Error);
  EXPECT_NO_THROW(DepthIntegrator(kEuler).solve(sequential, right, x, {}));
}

thread_local std::multiset<std::string>* seen = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& fn) {
  if (seen != nullptr) seen->insert(fn.name());
  return nullptr;
}

/// Names of the operators that `work` calls.
template <class Work>
std::multiset<std::string> operators_of(const Work& work) {
  std::multiset<std::string> names;
  seen = &names;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  seen = nullptr;
  return names;
}

class Watcher final : public Observer {
 public:
  bool wants(std::int64_t train_step) const override { return train_step % 10 == 0; }
  void on_depth(const DepthEvent& e) override { steps.push_back(e.at.step); }
  std::vector<std::int64_t> steps;
};

TEST(Integrator, EulerCostsOnePassAStepAndLooksAtNothing) {
  class Constant final : public VectorField {
   public:
    FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
      return {x, {}};
    }
  };
  const Constant field;
  const at::Tensor x = torch::ones({2, 3, 4, 5});
  const DepthGrid grid = layer_grid({Nodes::Right, Nodes::Left}, 6, torch::ones({2, 1}));

  Watcher watcher;
  const auto names =
      operators_of([&] { DepthIntegrator(kEuler).solve(field, grid, x, {}, {{&watcher}}); });

  EXPECT_EQ(names.count("aten::addcmul"), 6);
  EXPECT_EQ(watcher.steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  const std::set<std::string> views = {"aten::select", "aten::as_strided", "aten::view",
                                       "aten::to"};
  for (const std::string& name : names) {
    EXPECT_TRUE(name == "aten::addcmul" || views.contains(name)) << name;
  }
}

TEST(Integrator, ObserversSeeTheStepsTheyWantAndChangeNoBit) {
  const LinearField field(torch::tensor({0.3, 0.7}));
  const at::Tensor x = torch::ones({2, 3, 4, 5});
  const DepthGrid grid = flow_grid(2, 3, at::kFloat);
  const DepthIntegrator integrator(kRk4);
  Watcher watcher;

  const at::Tensor unseen = integrator.solve(field, grid, x, {});
  const at::Tensor unwanted = integrator.solve(field, grid, x, {}, {{&watcher}, 7});
  const std::size_t calls = watcher.steps.size();
  const at::Tensor watched = integrator.solve(field, grid, x, {}, {{&watcher}, 20});

  EXPECT_EQ(calls, 0);
  EXPECT_EQ(watcher.steps, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(torch::equal(unseen, watched));
  EXPECT_TRUE(torch::equal(unseen, unwanted));
}

}  // namespace integrator_test
}  // namespace depthgrid
