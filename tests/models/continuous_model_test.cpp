// The continuous part of a model: its Euler steps are the model's, and its field is their limit.
#include "models/continuous_model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>

#include "core/base/error.hpp"
#include "core/depth/integrator.hpp"
#include "core/probe/solver/solver_probe.hpp"
#include "core/probe/ssm/ssm_probe.hpp"
#include "models/probed_model.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace continuous_model_test {

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

std::vector<ModelCase> cases(bool continuous) {
  std::vector<ModelCase> out;
  for (const ModelCase& one : model_cases()) {
    ModelOptions o = small_options(one.family, 2);
    one.change(o);
    if ((continuous_steps(o) > 0) == continuous) out.push_back(one);
  }
  return out;
}

struct Subject {
  explicit Subject(const ModelOptions& o)
      : options(o), built(built_and_moved(options, at::kFloat)) {
    ProbeSet set;
    set.windows = at::randint(0, options.vocabulary, {3, 10}, at::kLong);
    set.classes = {};
    probed = std::make_unique<ProbedModel>(*built.model, set, built.arena.get());
  }

  ModelOptions options;
  Built built;
  std::unique_ptr<ProbedModel> probed;
};

ModelOptions options_of(const ModelCase& one, std::int64_t cells = 2) {
  ModelOptions o = small_options(one.family, cells);
  one.change(o);
  return o;
}

class Continuous : public ::testing::TestWithParam<ModelCase> {};

/// One of each kind, for what takes hundreds of evaluations.
class ContinuousKinds : public ::testing::TestWithParam<ModelCase> {};

std::vector<ModelCase> kinds() {
  constexpr std::string_view kNames[] = {"standard_share_all",
                                         "standard_share_all_parallel",
                                         "time_indexed_plain",
                                         "time_indexed_sequential",
                                         "time_indexed_constant_time",
                                         "time_indexed_temporal_norms",
                                         "time_indexed_ssm_plain",
                                         "tong_plain",
                                         "tong_left_nodes",
                                         "hybrid_ode_plain",
                                         "hybrid_ode_mlp_timed_rk4",
                                         "hybrid_ode_time_indexed"};
  std::vector<ModelCase> out;
  for (ModelCase& one : cases(true)) {
    if (std::ranges::count(kNames, one.name) > 0) out.push_back(std::move(one));
  }
  return out;
}

TEST_P(Continuous, ItsOwnStepsAreTheModelsAndSoAreThoseOfEuler) {
  const Subject s(options_of(GetParam()));
  const auto depth = s.probed->continuous();
  ASSERT_NE(depth, nullptr);
  const std::vector<at::Tensor> states = s.probed->states(0, 2);
  const ModelOptions& o = s.options;
  const auto first = static_cast<std::size_t>(o.flow.replaced() > 0 ? o.flow.first : 0);
  const auto last = first + static_cast<std::size_t>(depth->steps());

  const at::Tensor start = depth->start(0, 2);

  EXPECT_EQ(start.scalar_type(), at::kDouble);
  EXPECT_LT(distance(start, states[first]), 1e-5);
  const at::Tensor end = depth->euler(start, depth->steps());
  EXPECT_LT(distance(depth->own(start), states[last]), 1e-5);
  const bool euler = o.solver.method == &stepper("euler");
  EXPECT_TRUE(!euler || distance(end, states[last]) < 1e-5);
  EXPECT_LT(distance(depth->logits(depth->finish(states[last].to(at::kDouble))),
                     s.probed->logits(states.back())),
            1e-5);
}

/// From 32 to 64 steps the distance of Euler's to the field's solution halves, also for
/// sequential sublayers, whose steps are not Euler's of the field.
TEST_P(ContinuousKinds, ItsStepsConvergeToTheFieldsSolution) {
  const Subject s(options_of(GetParam()));
  const auto depth = s.probed->continuous();
  const at::Tensor start = depth->start(0, 2);
  const AdaptiveSolution exact =
      adaptive_solve(depth->field(), start, {.rtol = 1e-6, .atol = 1e-8});
  for (const SolveCost& cost : exact.cost) ASSERT_EQ(cost.status, SolveStatus::Done);
  const double coarse = distance(depth->euler(start, 32), exact.x);
  const double fine = distance(depth->euler(start, 64), exact.x);

  const double order = coarse > 1e-6 ? std::log2(coarse / fine) : 1;
  EXPECT_NEAR(order, 1, 0.35) << coarse << " " << fine;
}

TEST_P(ContinuousKinds, ACellIsBlindToItsNeighbourAndTheWeightsStayAsTheyAre) {
  Subject s(options_of(GetParam()));
  const at::Tensor before = s.built.arena->values().clone();
  const auto run = [](const ProbedModel& probed) {
    SolverProbe probe(probed, {.tolerances = {.rtol = 1e-4, .atol = 1e-6}});
    RecordedRows out;
    probe.declare(out);
    probe.measure(0, out);
    return out;
  };
  const RecordedRows all = run(*s.probed);

  EXPECT_TRUE(at::equal(s.built.arena->values(), before));
  EXPECT_EQ(s.built.arena->gradients().count_nonzero().item<std::int64_t>(), 0);
  // The other cell's weights are not numbers any more.
  {
    const at::NoGradGuard no_grad;
    s.built.arena->values()[1].fill_(std::nan(""));
  }
  const RecordedRows beside = run(*s.probed);
  for (const SeriesSpec& one : all.series) {
    const std::vector<double>&a = all.row(one.name, 0), &b = beside.row(one.name, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << one.name << " " << i;
    }
  }
  EXPECT_EQ(beside.row("solver_status", 1).back(), 3);
}

INSTANTIATE_TEST_SUITE_P(Families, Continuous, ::testing::ValuesIn(cases(true)),
                         [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(Families, ContinuousKinds, ::testing::ValuesIn(kinds()),
                         [](const auto& p) { return p.param.name; });

TEST(ContinuousModel, LayersOfTheirOwnHaveNoField) {
  for (const ModelCase& one : cases(false)) {
    const ModelOptions o = options_of(one);
    const bool shares = o.family == "time_indexed" || (o.family == "tong" && o.shared());
    EXPECT_TRUE(!shares || o.residual.kind == ScaleKind::LearnedPerLayer) << one.name;
  }
  const Subject s(small_options("standard", 1));
  EXPECT_EQ(s.probed->continuous(), nullptr);
  EXPECT_THROW(SolverProbe(*s.probed, {}), Error);
}

/// States of the layers, and the systems of the evaluation grid.
TEST(StateSpace, IsWhatTheModelRuns) {
  for (const ModelCase& one : model_cases()) {
    const ModelOptions o = options_of(one);
    if (o.mixer != Mixer::Ssm) continue;
    const Subject s(o);
    const StateSpaceLayers layers = s.probed->state_space();
    ASSERT_TRUE(layers.transition.defined()) << one.name;
    EXPECT_EQ(layers.delta.defined(), o.ssm.discretisation != Discretisation::None) << one.name;
    const std::vector<at::Tensor> states = s.probed->state_space_states(1, 2);
    ASSERT_EQ(static_cast<std::int64_t>(states.size()), s.probed->depth()) << one.name;
    EXPECT_EQ(states[0].sizes(), (std::vector<std::int64_t>{2, 2, 9, o.ssm.states})) << one.name;
    SsmProbe probe(*s.probed, ProbeSchedule("end", 1), 2);
    RecordedRows out;
    probe.declare(out);
    probe.measure(1, out);
    for (const double v : out.row("ssm_state_norm", 1)) EXPECT_GT(v, 0) << one.name;
  }
}

/// A flow is undone by its field along the time that runs back.
TEST(ContinuousFlow, ThereAndBackEndsWhereItBegan) {
  ModelOptions o = small_options("hybrid_ode", 2);
  const Subject subject(o);
  const std::unique_ptr<ContinuousDepth> depth = subject.probed->continuous();
  const at::Tensor start = depth->start(0, 3);
  DepthGrid grid = flow_grid(2, 64, start.options());
  const DepthIntegrator rk4(kRk4);
  const at::Tensor there = rk4.solve(depth->field(), grid, start, {});
  grid.t = 1 - grid.t;
  grid.h = -grid.h;
  grid.span = -grid.span;
  const at::Tensor back = rk4.solve(depth->field(), grid, there, {});
  EXPECT_GT(distance(there, start), 1e-3);
  EXPECT_LT(distance(back, start), 1e-6);
}

}  // namespace continuous_model_test
}  // namespace depthgrid::testing
