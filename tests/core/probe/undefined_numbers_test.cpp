// What a probe cannot know is NaN: a quotient over 0, a logarithm of 0, a statistic of nothing. The
// table feeds each function what is degenerate for it; the second part lets probes look at
// degenerate depths.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/nan.hpp"
#include "core/depth/integrator.hpp"
#include "core/probe/attention/attention_probe.hpp"
#include "core/probe/gates/gate_measures.hpp"
#include "core/probe/lens/logit_lens_probe.hpp"
#include "core/probe/lyapunov/kaplan_yorke.hpp"
#include "core/probe/lyapunov/lyapunov_probe.hpp"
#include "core/probe/lyapunov/sequence_moments.hpp"
#include "core/probe/solver/solver_comparison.hpp"
#include "core/probe/solver/solver_probe.hpp"
#include "core/probe/ssm/ssm_probe.hpp"
#include "core/probe/trajectory/path_statistics.hpp"
#include "core/probe/trajectory/state_moments.hpp"
#include "core/probe/trajectory/token_statistics.hpp"
#include "core/probe/trajectory/trajectory_probe.hpp"
#include "core/probe/weights/weights_probe.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"

namespace depthgrid::testing {
namespace undefined_numbers_test {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers values_of(const at::Tensor& x) {
  const at::Tensor host = x.to(at::kDouble).contiguous();
  return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()};
}

at::Tensor gates(const Numbers& values, std::int64_t depths) {
  return at::tensor(values, at::kDouble).view({depths, -1});
}

/// One part of the statistics of a path of two steps of two tokens.
Numbers of_path(const at::Tensor& x, at::Tensor PathStatistics::* part, double middle = .5) {
  return values_of(path_statistics(x, at::tensor({0., middle, 1.}, at::kDouble)).*part);
}

/// States of a token that goes from `a` by `b` to `c`.
at::Tensor path(const Numbers& a, const Numbers& b, const Numbers& c) {
  Numbers all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return at::tensor(all, at::kDouble).view({3, 1, -1});
}

struct Case {
  std::string what;
  std::function<Numbers()> numbers;
  Numbers expected;
};

std::vector<Case> cases() {
  const Numbers one_weight = {1};
  const std::vector<float> weight = {1};
  const auto attention = [weight] {
    const HeadAttention a = head_attention(weight, 1);
    return Numbers{a.entropy, a.distance, a.first_share, a.self_share};
  };
  const at::Tensor still = path({3, 4}, {3, 4}, {3, 4}), from_zero = path({0, 0}, {1, 0}, {2, 0}),
                   back = path({1, 0}, {0, 1}, {1, 0}), straight = path({1, 0}, {2, 0}, {3, 0});
  const auto moments = [](const Numbers& values, Numbers SequenceMoments::* part) {
    return SequenceMoments(at::tensor(values, at::kDouble)).*part;
  };
  const auto summary = [](const GateRange& range) {
    return gate_summary(gates({1, 1}, 1), range).saturation;
  };
  const auto spectrum = [](const at::Tensor& scatter) {
    const Spectrum s = spectrum_of(scatter);
    return Numbers{s.effective_rank, s.participation_ratio};
  };
  const auto distribution = [](const Numbers& sample) {
    const TokenDistribution d = distribution_of(sample);
    return Numbers{d.mean, d.std, d.p05, d.max};
  };
  const auto class_mean = [](double value, bool member) {
    ClassMeans means(1, 1);
    means.add(at::full({1, 1}, value, at::kDouble), at::full({1, 1}, member, at::kBool));
    return Numbers{means.mean(0, 0)};
  };
  const auto verdict_of = [](double distance, double order) {
    MethodResult rk4;
    rk4.of_displacement = distance;
    rk4.order = order;
    return Numbers{static_cast<double>(continuity(rk4))};
  };
  const double same = 0.1;  // whose mean over three is rounded
  return {
      {"attention: one token has no query behind the first", attention, {kNaN, kNaN, kNaN, kNaN}},
      {"gates: saturation without a range", [=] { return summary({kNaN, kNaN}); }, {kNaN}},
      {"gates: saturation in a range of no width", [=] { return summary({1, 1}); }, {kNaN}},
      {"gates: histogram over a range of no width",
       [] { return gate_histogram(gates({1, 1}, 1), {1, 1}, 2); },
       {kNaN, kNaN}},
      {"gates: histogram without gates",
       [] { return gate_histogram(gates({kNaN, kNaN}, 1), {0, 1}, 2); },
       {kNaN, kNaN}},
      {"gates: variance of equal gates",
       [=] { return Numbers{depth_variance_share(gates(Numbers(3, same), 3))}; },
       {kNaN}},
      {"gates: variance of one factor at one depth",
       [=] { return Numbers{depth_variance_share(gates({same}, 1))}; },
       {kNaN}},
      {"gates: at one depth nothing varies over depth",
       [] { return Numbers{depth_variance_share(gates({0, 1}, 1))}; },
       {0}},
      {"gates: variance of no depth",
       [] { return Numbers{depth_variance_share(gates({kNaN, kNaN}, 1))}; },
       {kNaN}},
      {"gates: variation of gates that are not finite",
       [] { return Numbers{total_variation(gates({0, kInfinity}, 2))}; },
       {kNaN}},
      {"distribution of nothing", [=] { return distribution({}); }, {kNaN, kNaN, kNaN, kNaN}},
      {"distribution of one", [=] { return distribution({3}); }, {3, 0, 3, 3}},
      {"mean of a class without tokens", [=] { return class_mean(1, false); }, {kNaN}},
      {"mean of undefined numbers", [=] { return class_mean(kNaN, true); }, {kNaN}},
      {"moments of nothing: mean",
       [=] { return moments({kNaN, kNaN}, &SequenceMoments::mean); },
       {kNaN}},
      {"moments of nothing: largest",
       [=] { return moments({kNaN}, &SequenceMoments::most); },
       {kNaN}},
      {"moments of one: spread", [=] { return moments({2}, &SequenceMoments::spread); }, {kNaN}},
      {"spectrum of one token",
       [=] { return spectrum(at::zeros({3, 3}, at::kDouble)); },
       {kNaN, kNaN}},
      {"spectrum of numbers that are not finite",
       [=] { return spectrum(at::full({2, 2}, kNaN, at::kDouble)); },
       {kNaN, kNaN}},
      {"spectrum of one direction",
       [=] { return spectrum(at::ones({2, 2}, at::kDouble)); },
       {1, 1}},
      {"path: displacement from 0",
       [=] { return of_path(from_zero, &PathStatistics::displacement); },
       {kNaN, kNaN, kNaN}},
      {"path: velocity over a state of 0",
       [=] { return of_path(from_zero, &PathStatistics::relative_velocity); },
       {kNaN, 2}},
      {"path: cosine with a state of 0",
       [=] { return of_path(from_zero, &PathStatistics::cosine_state); },
       {kNaN, 1}},
      {"path: cosine of steps that go nowhere",
       [=] { return of_path(still, &PathStatistics::cosine_step); },
       {kNaN, kNaN}},
      {"path: curvature where nothing moves",
       [=] { return of_path(still, &PathStatistics::curvature); },
       {kNaN, kNaN}},
      {"path: tortuosity of one that stands",
       [=] { return of_path(still, &PathStatistics::tortuosity); },
       {kNaN}},
      {"path: straightness of one that stands",
       [=] { return of_path(still, &PathStatistics::straightness); },
       {kNaN}},
      {"path: tortuosity of one that returns",
       [=] { return of_path(back, &PathStatistics::tortuosity); },
       {kNaN}},
      {"path: straightness of one that returns",
       [=] { return of_path(back, &PathStatistics::straightness); },
       {0}},
      {"path: velocity of a step of no duration",
       [=] { return of_path(straight, &PathStatistics::relative_velocity, 0); },
       {kNaN, .5}},
      {"path: acceleration at a step of no duration",
       [=] { return of_path(straight, &PathStatistics::acceleration, 0); },
       {kNaN, kNaN}},
      {"Kaplan-Yorke of nothing known", [] { return Numbers{kaplan_yorke({}, 3)}; }, {kNaN}},
      {"Kaplan-Yorke of an unknown exponent",
       [] { return Numbers{kaplan_yorke({kNaN}, 1)}; },
       {kNaN}},
      {"Kaplan-Yorke of an infinite exponent",
       [] { return Numbers{kaplan_yorke({kInfinity, -kInfinity}, 2)}; },
       {kNaN}},
      {"Kaplan-Yorke of a direction that disappears",
       [] { return Numbers{kaplan_yorke({.5, -kInfinity}, 2)}; },
       {1}},
      {"continuity of what did not move", [=] { return verdict_of(kNaN, kNaN); }, {0}},
      {"spectral norm of numbers that are not finite",
       [] { return Numbers{spectral_norm(at::full({2, 2}, kNaN))}; },
       {kNaN}},
      {"spectrum of products of 0",
       [] { return product_spectrum(at::zeros({3, 1}), at::zeros({3, 1})).singular; },
       {0}},
  };
}

TEST(UndefinedNumbers, OfEachFunctionAreNaN) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    const Numbers found = c.numbers();
    ASSERT_EQ(found.size(), c.expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(c.expected[i])) {
        EXPECT_TRUE(std::isnan(found[i])) << found[i] << " at " << i;
      } else {
        EXPECT_NEAR(found[i], c.expected[i], 1e-12) << "at " << i;
      }
    }
  }
}

/// A depth of two steps, x -> factor · x, of one cell; its readout reads the channels as words.
class Scaling final : public FakeSubject {
 public:
  Scaling(at::Tensor start, double factor, Numbers times = {0, .5, 1})
      : FakeSubject({start, start * factor, start * factor * factor},
                    at::tensor(times, at::kDouble).unsqueeze(0)),
        factor_(factor),
        field_(factor - 1),
        start_(std::move(start)) {}

  std::unique_ptr<DepthTrack> track(TrackPath) const override {
    return std::make_unique<Track>(factor_);
  }
  at::Tensor final_norm(const at::Tensor& x) const override { return x; }
  at::Tensor logits(const at::Tensor& x) const override { return x; }
  StateSpaceLayers state_space() const override {
    return {.transition = at::full({1, 2, 3}, factor_, at::kDouble), .delta = {}};
  }
  std::vector<at::Tensor> state_space_states(std::int64_t first,
                                             std::int64_t count) const override {
    return {start_.narrow(1, first, count), start_.narrow(1, first, count)};
  }
  std::int64_t continuous_steps() const override { return 2; }
  std::unique_ptr<ContinuousDepth> continuous() const override {
    return std::make_unique<Continuous>(field_, start_);
  }

 private:
  struct Track final : DepthTrack {
    explicit Track(double f) : factor(f) {}
    at::Tensor advance(const at::Tensor& x, std::int64_t from, std::int64_t to) const override {
      return x * std::pow(factor, static_cast<double>(to - from));
    }
    double factor;
  };
  struct Linear final : VectorField {
    explicit Linear(double r) : rate(r) {}
    FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
      return {x * rate, {}};
    }
    double rate;
  };
  struct Continuous final : ContinuousDepth {
    Continuous(const VectorField& f, at::Tensor x0) : of(f), begin(std::move(x0)) {}
    std::int64_t steps() const override { return 2; }
    const VectorField& field() const override { return of; }
    at::Tensor start(std::int64_t first, std::int64_t count) const override {
      return begin.narrow(1, first, count).to(at::kDouble);
    }
    at::Tensor own(const at::Tensor& x) const override { return euler(x, 2); }
    at::Tensor euler(const at::Tensor& x, std::int64_t n) const override {
      return DepthIntegrator(kEuler).solve(of, flow_grid(x.size(0), n, x.options()), x, {});
    }
    at::Tensor finish(const at::Tensor& x) const override { return x; }
    at::Tensor logits(const at::Tensor& x) const override { return x; }
    const VectorField& of;
    at::Tensor begin;
  };

  double factor_;
  Linear field_;
  at::Tensor start_;
};

RecordedRows seen(const ProbeSubject& subject) {
  RecordedRows out;
  const auto look = [&out](Probe&& probe) {
    probe.declare(out);
    probe.measure(0, out);
  };
  const std::vector<LyapunovVariant> variants = {LyapunovVariant::Raw, LyapunovVariant::Normalised,
                                                 LyapunovVariant::Relative};
  look(LyapunovProbe(subject, {.schedule = {},
                               .subspace = {.exponents = 2},
                               .sequences = 2,
                               .batch = 2,
                               .variants = variants,
                               .influence_probes = 1,
                               .tong = true}));
  look(TrajectoryProbe(subject, {.schedule = {}, .cka = true, .batch = 2, .kept = {}}));
  look(LogitLensProbe(subject, {}));
  look(SsmProbe(subject, {}, 2));
  look(SolverProbe(subject, {}));
  return out;
}

/// A depth, and what of it is not defined at any place; all else is a number, or NaN in places.
struct Depth {
  std::string what;
  std::function<std::unique_ptr<Scaling>()> make;
  std::vector<std::string> undefined;
};

std::vector<Depth> depths() {
  // As many tokens as CKA needs, and not a power of two: their means are rounded.
  const at::Tensor start = at::randn({1, 3, 343, 4});
  const auto scaling = [](const at::Tensor& x, double factor) {
    return [=] { return std::make_unique<Scaling>(x, factor); };
  };
  const std::vector<std::string> of_directions = {
      "trajectory_effective_rank", "trajectory_participation_ratio", "trajectory_cka"};
  const std::vector<std::string> of_nothing = {"lyapunov_exponent",      "lyapunov_exponent_bound",
                                               "lyapunov_log_stretch",   "lyapunov_batch_max",
                                               "lyapunov_local_stretch", "lyapunov_local_rate"};
  std::vector<std::string> still = {
      "trajectory_cosine_step",  "trajectory_curvature",           "trajectory_tortuosity",
      "trajectory_straightness", "solver_divergence_displacement", "solver_observed_order",
      "ssm_memory_horizon",      "solver_control_divergence",      "solver_control_order"};
  return {{"a depth that vanishes", scaling(start, 0), of_nothing},
          {"a depth that does nothing", scaling(start, 1), still},
          {"equal tokens", scaling(at::full({1, 3, 343, 4}, 0.1), 2), of_directions},
          {"a start of 0",
           scaling(at::zeros({1, 3, 343, 4}), 2),
           {"trajectory_displacement", "trajectory_cosine_final", "trajectory_relative_velocity",
            "solver_divergence_state", "solver_divergence_displacement"}},
          {"no duration",
           [start] { return std::make_unique<Scaling>(start, 2, Numbers{0, 0, 0}); },
           {"trajectory_velocity", "lyapunov_exponent", "lyapunov_exponent_bound",
            "lyapunov_kaplan_yorke", "lyapunov_batch_max", "lyapunov_log_norm"}},
          {"states that are not finite",
           scaling(at::full({1, 3, 343, 4}, kNaN), 1),
           {"logit_lens_loss", "logit_lens_agreement", "trajectory_norm_mean", "solver_kl",
            "solver_divergence_state"}}};
}

TEST(UndefinedNumbers, OfEachProbeAreNaNAndNoneIsInfinite) {
  for (const Depth& depth : depths()) {
    SCOPED_TRACE(depth.what);
    const std::unique_ptr<Scaling> subject = depth.make();
    const RecordedRows rows = seen(*subject);
    for (const SeriesSpec& series : rows.series) {
      const Numbers& row = rows.row(series.name);
      EXPECT_TRUE(std::ranges::none_of(row, [](double v) { return std::isinf(v); })) << series.name;
      EXPECT_TRUE(std::ranges::none_of(row, [](double v) { return std::abs(v) > 1e9; }))
          << series.name;
      if (std::ranges::find(depth.undefined, series.name) == depth.undefined.end()) continue;
      EXPECT_TRUE(std::ranges::all_of(row, [](double v) { return std::isnan(v); }))
          << series.name << ": " << ::testing::PrintToString(row[0]);
    }
  }
}

}  // namespace undefined_numbers_test
}  // namespace depthgrid::testing
