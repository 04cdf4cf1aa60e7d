// What the probes of attention and of weights read of a model is what its pass computes.
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/triu.h>

#include "core/probe/attention/attention_probe.hpp"
#include "core/probe/weights/weights_probe.hpp"
#include "models/probed_model.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace reads_test {

struct Probed {
  Probed(const ModelCase& one, std::int64_t cells) {
    options = small_options(one.family, cells);
    one.change(options);
    std::vector<std::uint64_t> seeds = {3, 4};
    seeds.resize(static_cast<std::size_t>(cells));
    built = std::make_unique<Built>(options, seeds);
  }
  /// The same sequences for all.
  void set(const at::Tensor& windows) {
    ProbeSet set;
    set.windows = windows;
    probed = std::make_unique<ProbedModel>(*built->model, set);
  }

  ModelOptions options;
  std::unique_ptr<Built> built;
  std::unique_ptr<ProbedModel> probed;
};

bool has_attention(const ModelOptions& o, std::int64_t step) {
  const bool flows =
      o.flow.replaced() > 0 && step >= o.flow.first && step < o.flow.first + o.solver.steps;
  return !flows || o.flow.field != FieldKind::Mlp;
}

class Reads : public ::testing::TestWithParam<ModelCase> {
 protected:
  Reads() : both_(GetParam(), 2) {
    windows_ = at::randint(0, both_.options.vocabulary, {5, 10}, at::kLong);
    both_.set(windows_);
  }

  Probed both_;
  at::Tensor windows_;
};

TEST_P(Reads, AttentionWeightsOfEachStepAreCausalAndSumToOne) {
  std::vector<std::int64_t> steps;
  both_.probed->attention(1, 3, [&](std::int64_t step, const at::Tensor& w) {
    steps.push_back(step);
    ASSERT_EQ(w.sizes().vec(), (std::vector<std::int64_t>{2, 3, both_.options.heads, 9, 9}));
    EXPECT_TRUE(at::allclose(w.sum(-1), at::ones_like(w.sum(-1)), 0, 1e-5));
    EXPECT_EQ(at::triu(w, 1).abs().max().item<float>(), 0);
  });
  std::vector<std::int64_t> expected;
  for (std::int64_t l = 0; l < both_.probed->depth(); ++l) {
    if (has_attention(both_.options, l)) expected.push_back(l);
  }
  EXPECT_EQ(steps, expected) << "once for every step that has attention";
}

/// Rows of all series of a probe.
std::vector<std::vector<double>> rows_of(Probe& probe, std::size_t cell) {
  RecordedRows out;
  probe.declare(out);
  probe.measure(1, out);
  std::vector<std::vector<double>> rows;
  for (const SeriesSpec& series : out.series) rows.push_back(out.row(series.name, cell));
  return rows;
}

/// Equal bits, or both NaN.
void expect_same(const std::vector<std::vector<double>>& a,
                 const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      EXPECT_TRUE(a[i][j] == b[i][j] || (std::isnan(a[i][j]) && std::isnan(b[i][j])))
          << "series " << i << ", number " << j;
    }
  }
}

TEST_P(Reads, ACellHasTheSameBitsAloneAndFused) {
  Probed alone(GetParam(), 1);
  alone.set(windows_);
  {
    const at::NoGradGuard no_grad;
    alone.built->arena->values().copy_(both_.built->arena->values().narrow(0, 0, 1));
    alone.built->arena->refresh_shadow();
  }
  AttentionProbe one(*alone.probed, ProbeSchedule("end", 1)),
      two(*both_.probed, ProbeSchedule("end", 1));
  expect_same(rows_of(one, 0), rows_of(two, 0));
  WeightsProbe first(*alone.probed, ProbeSchedule("end", 1)),
      second(*both_.probed, ProbeSchedule("end", 1));
  expect_same(rows_of(first, 0), rows_of(second, 0));
}

TEST_P(Reads, EveryStepHasTheWeightsOfItsSublayers) {
  std::int64_t steps = 0;
  const ModelOptions& o = both_.options;
  both_.probed->step_weights([&](std::int64_t step, const StepWeights& w) {
    EXPECT_EQ(step, steps++);
    EXPECT_EQ(w.q.defined(), has_attention(o, step));
    EXPECT_EQ(w.down.defined(), o.mixer == Mixer::Mlp);
    for (const at::Tensor* m : {&w.q, &w.k, &w.v, &w.out}) {
      if (!m->defined()) continue;
      EXPECT_EQ(m->sizes().vec(), (std::vector<std::int64_t>{2, o.width, o.width}));
    }
    if (w.up.defined()) {
      EXPECT_EQ(w.up.size(2), o.width);
    }
  });
  EXPECT_EQ(steps, both_.probed->depth());
}

INSTANTIATE_TEST_SUITE_P(Families, Reads, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

TEST(WeightsOfSteps, AreTheBaseTimesTheGateOfTheStep) {
  const at::NoGradGuard no_grad;
  Probed one({"time_indexed", "time_indexed", [](ModelOptions&) {}}, 2);
  one.set(at::randint(0, one.options.vocabulary, {2, 6}, at::kLong));
  const at::Tensor qkv = one.built->parameter("block.attn.qkv.weight");
  const std::vector<GateValues> gates = one.probed->gates(one.probed->gate_times());
  RecordedRows rows;
  WeightsProbe probe(*one.probed, ProbeSchedule("end", 1));
  probe.declare(rows);
  probe.measure(1, rows);
  const std::int64_t c = one.options.width;
  for (std::int64_t l = 0; l < one.probed->depth(); ++l) {
    for (std::int64_t e = 0; e < 2; ++e) {
      const at::Tensor k = qkv[e].narrow(0, c, c) * gates[1].values[e][l].unsqueeze(1);
      EXPECT_EQ(
          rows.row("weight_norm", static_cast<std::size_t>(e))[static_cast<std::size_t>(l * 6 + 1)],
          spectral_norm(k));
    }
  }
}

/// The singular values of a head are those of the (C, C) form that scores two states.
TEST(WeightsOfSteps, OfAHeadAreThoseOfTheWholeForm) {
  const at::NoGradGuard no_grad;
  Probed one({"standard", "standard", [](ModelOptions&) {}}, 1);
  one.set(at::randint(0, one.options.vocabulary, {2, 6}, at::kLong));
  RecordedRows rows;
  WeightsProbe probe(*one.probed, ProbeSchedule("end", 1));
  probe.declare(rows);
  probe.measure(1, rows);
  const std::int64_t c = one.options.width, d = c / one.options.heads;
  const at::Tensor qkv = one.built->parameter("layers.1.attn.qkv.weight")[0].to(at::kDouble);
  const at::Tensor out = one.built->parameter("layers.1.attn.out.weight")[0].to(at::kDouble);
  const at::Tensor q = qkv.narrow(0, d, d), k = qkv.narrow(0, c + d, d);  // of head 1
  const at::Tensor v = qkv.narrow(0, 2 * c + d, d), o = out.narrow(1, d, d);
  const auto expect = [&](const char* name, const at::Tensor& whole) {
    const at::Tensor s = at::linalg_svdvals(whole);
    for (std::int64_t i = 0; i < d; ++i) {
      const std::size_t at = static_cast<std::size_t>((one.options.heads + 1) * d + i);
      EXPECT_NEAR(rows.row(name)[at], s[i].item<double>(), 1e-10) << name << " " << i;
    }
  };
  expect("weight_qk_singular", at::mm(q.t(), k));
  expect("weight_ov_singular", at::mm(o, v));
}

}  // namespace reads_test
}  // namespace depthgrid::testing
