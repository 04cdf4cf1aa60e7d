// A control signal in every family: at zero it is no signal, to the bit; it is causal and differs
// from cell to cell; its maps have the counts and the gradients that they should have.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "models/blocks/control_profile.hpp"
#include "models/closed_form.hpp"
#include "models/decode/decoder.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace control_test {

constexpr std::int64_t kAxes = 3;
constexpr std::int64_t kTokens = 7;

std::vector<ModelCase> control_cases() {
  std::vector<ModelCase> out;
  const auto layers = [](ModelOptions& o) { o.control = {.axes = kAxes, .layers = {0, 2}}; };
  for (const char* family : {"standard", "time_indexed", "tong", "tdt", "mod", "hybrid_ode"}) {
    out.push_back({std::string(family) + "_layers", family, layers});
  }
  const auto prefix = [](ModelOptions& o) { o.control = {.axes = kAxes, .as_prefix = true}; };
  for (const char* family : {"standard", "time_indexed", "tong", "hybrid_ode"}) {
    out.push_back({std::string(family) + "_prefix", family, prefix});
  }
  out.push_back({"standard_rope_prefix", "standard", [=](ModelOptions& o) {
                   prefix(o);
                   o.positions = Positions::Rope;
                 }});
  out.push_back({"time_indexed_ssm_layers", "time_indexed", [=](ModelOptions& o) {
                   with_state_space(o);
                   layers(o);
                 }});
  constexpr std::pair<const char*, Injection> kWays[] = {
      {"additive", Injection::Additive}, {"film", Injection::Film}, {"concat", Injection::Concat}};
  constexpr std::pair<const char*, FieldKind> kFields[] = {{"attention", FieldKind::AttentionMlp},
                                                           {"gated", FieldKind::TimeIndexed},
                                                           {"mlp", FieldKind::Mlp}};
  for (const auto& [way, injection] : kWays) {
    for (const auto& [name, field] : kFields) {
      out.push_back({std::string(name) + "_" + way, "hybrid_ode",
                     [injection = injection, field = field](ModelOptions& o) {
                       if (field == FieldKind::Mlp) with_mlp_field(o);
                       o.flow.field = field;
                       o.control = {.axes = kAxes, .in_flow = true, .injection = injection};
                     }});
    }
  }
  out.push_back({"both", "hybrid_ode", [](ModelOptions& o) {
                   o.control = {
                       .axes = kAxes, .in_flow = true, .layers = {2}, .injection = Injection::Film};
                   o.solver.method = &stepper("midpoint");
                 }});
  return out;
}

ModelOptions options_of(const ModelCase& c, std::int64_t cells) {
  ModelOptions o = small_options(c.family, cells);
  c.change(o);
  return o;
}

at::Tensor some_tokens(const ModelOptions& o) {
  return at::randint(0, o.vocabulary, {o.cells, 2, kTokens}, at::kLong);
}

/// A signal for each token, or for each sequence if the model takes no other.
at::Tensor some_signal(const ModelOptions& o) {
  return at::randn({o.cells, 2, o.control.as_prefix ? 1 : kTokens, kAxes});
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.contiguous().view(at::kInt), b.contiguous().view(at::kInt));
}

class ControlSignal : public ::testing::TestWithParam<ModelCase> {};

TEST_P(ControlSignal, OfZeroIsNoSignalToTheBitAlsoAfterTraining) {
  const ModelOptions o = options_of(GetParam(), 2);
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = some_tokens(o);
  const Built fresh(o, {3, 4}), trained = built_and_moved(o, at::kFloat);
  for (const Built* built : {&fresh, &trained}) {
    const at::Tensor plain = built->model->logits(tokens, {});
    const Control constant{at::zeros({2, 2, 1, kAxes})};
    EXPECT_TRUE(same_bits(built->model->logits(tokens, {.control = constant}), plain));
    const Control each{at::zeros({2, 2, kTokens, kAxes})};
    if (o.control.as_prefix) {
      EXPECT_THROW(built->model->logits(tokens, {.control = each}), ShapeError);
    } else {
      EXPECT_TRUE(same_bits(built->model->logits(tokens, {.control = each}), plain));
    }
  }
  const at::Tensor moved = trained.model->logits(tokens, {.control = {some_signal(o)}});
  EXPECT_GT((moved - trained.model->logits(tokens, {})).abs().max().item<float>(), 1e-4);
}

/// The model of the same seed without a signal has the same numbers: the maps are added, and draw
/// nothing.
TEST_P(ControlSignal, ChangesNothingOfTheModelThatLacksIt) {
  ModelOptions o = options_of(GetParam(), 2);
  const at::NoGradGuard no_grad;
  const Built with(o, {3, 4});
  const at::Tensor tokens = some_tokens(o), signal = some_signal(o);
  for (const ParameterSlot& slot : with.arena->layout().slots()) {
    if (slot.spec.group == ParameterGroup::Control) {
      EXPECT_EQ(slot_view(with.arena->values(), slot).abs().max().item<float>(), 0)
          << slot.spec.name;
    }
  }
  const bool composed = o.control.in_flow && o.control.injection != Injection::Additive;
  const bool before = o.control.as_prefix;
  o.control = {};
  const Built without(o, {3, 4});
  const at::Tensor plain = without.model->logits(tokens, {});
  const at::Tensor own = with.model->logits(tokens, {});
  const at::Tensor moved = with.model->logits(tokens, {.control = {signal}});
  if (composed) {  // by other kernels
    EXPECT_LT((own - plain).abs().max().item<float>(), 1e-4);
  } else {
    EXPECT_TRUE(same_bits(own, plain));
  }
  // A prefix of zeros is there, if it says nothing.
  EXPECT_TRUE(before || same_bits(moved, own));
}

/// What enters a discrete layer is W u at the tokens that have a signal, and nothing elsewhere.
TEST(LayerControl, MovesTheStreamByItsMapWhereThereIsASignal) {
  ModelOptions o = small_options("standard", 2);
  o.control = {.axes = kAxes, .layers = {1}};
  const at::NoGradGuard no_grad;
  const Built built = built_and_moved(o, at::kFloat);
  const at::Tensor x = at::randn({2, 2, kTokens, o.width});
  at::Tensor u = at::zeros({2, 2, kTokens, kAxes});
  u.narrow(2, 3, 2).copy_(at::randn({2, 2, 2, kAxes}));
  const LayerControl& control = built.model->layer_control();
  EXPECT_TRUE(same_bits(control.enter(x, 0, {u}), x)) << "another layer";
  const at::Tensor after = control.enter(x, 1, {u});
  at::Tensor map;
  for (const ParameterSlot& slot : built.arena->layout().slots()) {
    if (slot.spec.name == "layers.1.control.weight") map = slot_view(built.arena->values(), slot);
  }
  const at::Tensor wanted = u.matmul(map.transpose(1, 2).unsqueeze(1));  // (E, B, T, C)
  EXPECT_LT((after - x - wanted).abs().max().item<float>(), 1e-6);
  EXPECT_GT(wanted.narrow(2, 3, 2).abs().max().item<float>(), 1e-2);
  EXPECT_TRUE(same_bits(after.narrow(2, 0, 3), x.narrow(2, 0, 3)));
  EXPECT_TRUE(same_bits(after.narrow(2, 5, kTokens - 5), x.narrow(2, 5, kTokens - 5)));
}

TEST_P(ControlSignal, OfACellAndASequenceIsItsOwn) {
  const ModelOptions o = options_of(GetParam(), 2);
  const at::NoGradGuard no_grad;
  const Built built = built_and_moved(o, at::kFloat);
  const at::Tensor tokens = some_tokens(o), plain = built.model->logits(tokens, {});
  const at::Tensor u = at::zeros({2, 2, 1, kAxes});
  u.select(0, 1).select(0, 0).fill_(1.5);  // second cell, first sequence
  const at::Tensor moved = built.model->logits(tokens, {.control = {u}});
  EXPECT_TRUE(same_bits(moved[0], plain[0]));
  EXPECT_LT((moved[1][1] - plain[1][1]).abs().max().item<float>(), 1e-5);
  EXPECT_GT((moved[1][0] - plain[1][0]).abs().max().item<float>(), 1e-3);
}

TEST_P(ControlSignal, OfATokenMovesNothingBeforeIt) {
  const ModelOptions o = options_of(GetParam(), 2);
  if (o.control.as_prefix) return;
  const at::NoGradGuard no_grad;
  const Built built = built_and_moved(o, at::kFloat);
  const at::Tensor tokens = some_tokens(o), one = some_signal(o), other = one.clone();
  other.narrow(2, 4, kTokens - 4).add_(1);
  const at::Tensor a = built.model->logits(tokens, {.control = {one}}).narrow(2, 0, 4);
  const at::Tensor b = built.model->logits(tokens, {.control = {other}}).narrow(2, 0, 4);
  EXPECT_TRUE(same_bits(a, b));
}

TEST_P(ControlSignal, MovesItsMapsByTheGradientOfFiniteDifferences) {
  ModelOptions o = options_of(GetParam(), 1);
  if (!o.routing.layers.empty()) return;  // whose decisions jump
  const Built exact = built_and_moved(o, at::kDouble);
  const at::Tensor tokens = some_tokens(o), weight = at::randn({1, 2, kTokens, o.vocabulary});
  const Control plus{some_signal(o).to(at::kDouble)}, minus{-plus.u};
  const auto value = [&](const Control& u) {
    return (exact.model->logits(tokens, {.control = u}) * weight).sum();
  };
  (value(plus) + value(minus)).backward();
  const at::Tensor together = exact.arena->gradients().clone();
  exact.arena->zero_gradients();
  value(plus).backward();
  value(minus).backward();
  const at::NoGradGuard no_grad;
  const double scale = together.abs().max().item<double>();
  EXPECT_LE((exact.arena->gradients() - together).abs().max().item<double>(), 1e-9 * scale);
  for (const ParameterSlot& slot : exact.arena->layout().slots()) {
    if (slot.spec.group != ParameterGroup::Control) continue;
    const at::Tensor p = slot_view(exact.arena->values(), slot);
    const at::Tensor direction = at::randn(p.sizes(), at::kDouble);
    const double along = (slot_view(together, slot) * direction).sum().item<double>();
    const double step = 1e-5;
    const auto sum = [&] { return (value(plus) + value(minus)).item<double>(); };
    p.add_(direction, step);
    const double up = sum();
    p.sub_(direction, 2 * step);
    const double down = sum();
    p.add_(direction, step);
    EXPECT_NEAR((up - down) / (2 * step), along, 1e-6 * std::max(1.0, std::abs(along)))
        << slot.spec.name;
  }
}

TEST_P(ControlSignal, ReachesEveryMapFromItsStartAtZero) {
  const ModelOptions o = options_of(GetParam(), 2);
  const Built built(o, {3, 4});
  CellLanguageModel language(*built.model, built.seeds);
  const at::Tensor windows = at::randint(0, o.vocabulary, {2, 2, kTokens + 1}, at::kLong);
  language.losses({.windows = windows, .step = 1, .control = {some_signal(o)}})
      .total.sum()
      .backward();
  for (const ParameterSlot& slot : built.arena->layout().slots()) {
    if (slot.spec.group != ParameterGroup::Control) continue;
    const at::Tensor gradient = slot_view(built.arena->gradients(), slot);
    EXPECT_GT(gradient[0].abs().max().item<float>(), 0) << slot.spec.name;
    EXPECT_GT(gradient[1].abs().max().item<float>(), 0) << slot.spec.name;
  }
}

/// Cells that differ in all that may differ between them: u and its course over depth.
TEST_P(ControlSignal, OfFusedCellsIsThatOfEachAlone) {
  using enum ControlProfileKind;
  const std::vector<ControlProfileKind> profiles = {Constant, RampUp, RampDown, Window};
  const std::vector<std::vector<double>> u = {{1, 0, -1}, {.5, .5, 0}, {0, 0, 0}, {-2, 1, .25}};
  const std::vector<double> from = {0, 0, 0, .3}, to = {1, 1, 1, 1};
  const std::vector<std::uint64_t> seeds = {3, 4, 5, 6};
  const auto logits = [&](const std::vector<std::size_t>& cells, const at::Tensor& tokens) {
    ModelOptions o = options_of(GetParam(), std::ssize(cells));
    std::vector<std::uint64_t> chosen;
    for (const std::size_t e : cells) {
      o.control.profile.push_back(profiles[e]);
      o.control.window_from.push_back(from[e]);
      o.control.window_to.push_back(to[e]);
      o.control.constant.push_back(u[e]);
      chosen.push_back(seeds[e]);
    }
    const Built built(o, chosen);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      for (const ParameterSlot& slot : built.arena->layout().slots()) {
        if (slot.spec.group != ParameterGroup::Control) continue;
        const auto n = static_cast<double>(cells[i] + 1);
        slot_view(built.arena->values(), slot)[static_cast<std::int64_t>(i)].fill_(.1 * n);
      }
    }
    return built.model->logits(tokens, {});
  };
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::randint(0, 17, {4, 2, kTokens}, at::kLong);
  const at::Tensor together = logits({0, 1, 2, 3}, tokens);
  for (std::size_t e = 0; e < 4; ++e) {
    const auto row = static_cast<std::int64_t>(e);
    EXPECT_TRUE(same_bits(together.narrow(0, row, 1), logits({e}, tokens.narrow(0, row, 1)))) << e;
  }
}

TEST_P(ControlSignal, IsDecodedTokenByToken) {
  const ModelOptions o = options_of(GetParam(), 2);
  const at::NoGradGuard no_grad;
  const Built built = built_and_moved(o, at::kDouble);
  const at::Tensor tokens = some_tokens(o);
  at::Tensor u = some_signal(o).to(at::kDouble);
  std::vector<at::Tensor> signals = {u, u.narrow(2, 0, 1)};
  if (o.control.as_prefix) {  // one sequence of two without it
    signals.push_back(u.clone());
    signals.back().select(0, 1).select(0, 0).zero_();
  }
  for (const at::Tensor& signal : signals) {
    Execution execution{.mode = o.routing.own_mode()};
    if (!o.routing.layers.empty()) execution = {.mode = ExecutionMode::Dense};
    const at::Tensor whole =
        built.model->logits(tokens, {.control = {signal}, .execution = execution});
    Decoder decoder(*built.model, execution, {signal});
    std::vector<at::Tensor> logits;
    for (const std::int64_t n : {3, 1, 1, 2}) {
      const std::int64_t first = decoder.length();
      logits.push_back(built.model->readout(decoder.advance(tokens.narrow(2, first, n))));
    }
    EXPECT_LE((at::cat(logits, 2) - whole).abs().max().item<double>(), 1e-9);
  }
}

TEST_P(ControlSignal, HasTheCountOfItsClosedForm) {
  const ModelOptions o = options_of(GetParam(), 1);
  ParameterLayout layout;
  Model(layout, o);
  EXPECT_EQ(closed_form_parameters(o).value(), layout.size());
}

INSTANTIATE_TEST_SUITE_P(Ways, ControlSignal, ::testing::ValuesIn(control_cases()),
                         [](const auto& c) { return c.param.name; });

/// Parameters in group control at d = 256, c = 4. Source: second study, 3.2.
TEST(ControlParameters, AreAsManyAsTheStudyCounts) {
  const auto count = [](const std::function<void(ModelOptions&)>& change) {
    ModelOptions o = small_options("hybrid_ode");
    o.width = 256;
    o.hidden = o.flow.hidden = 1024;
    o.control.axes = 4;
    change(o);
    if (o.flow.field == FieldKind::Mlp) o.flow.hidden = 512;
    ParameterLayout layout;
    Model(layout, o);
    return layout.counts_by_group().at(static_cast<std::size_t>(ParameterGroup::Control));
  };
  const auto flow = [](Injection way, FieldKind field) {
    return [=](ModelOptions& o) {
      o.flow.field = field;
      o.flow.time_embedding = field != FieldKind::Mlp;
      o.control.in_flow = true;
      o.control.injection = way;
    };
  };
  EXPECT_EQ(count(flow(Injection::Additive, FieldKind::AttentionMlp)), 1024);
  EXPECT_EQ(count(flow(Injection::Film, FieldKind::AttentionMlp)), 4096);
  EXPECT_EQ(count(flow(Injection::Concat, FieldKind::AttentionMlp)), 7168);
  EXPECT_EQ(count(flow(Injection::Additive, FieldKind::Mlp)), 1024);
  EXPECT_EQ(count(flow(Injection::Film, FieldKind::Mlp)), 4096);
  EXPECT_EQ(count(flow(Injection::Concat, FieldKind::Mlp)), 2048);
  EXPECT_EQ(count([](ModelOptions& o) { o.control.layers = {0}; }), 1024);
  EXPECT_EQ(count([](ModelOptions& o) { o.control.layers = {0, 2}; }), 2048);
  EXPECT_EQ(count([](ModelOptions& o) { o.control.as_prefix = true; }), 1024);
}

TEST(ControlProfile, IsAFactorOfTheSignalOverDepthTime) {
  using enum ControlProfileKind;
  ModelOptions o = small_options("standard", 4);
  o.control = {.axes = 2,
               .profile = {Constant, RampUp, RampDown, Window},
               .window_from = {0, 0, 0, 1.0 / 3},
               .window_to = {1, 1, 1, 2.0 / 3}};
  const ControlProfile profile(o);
  const Control u{at::full({4, 1, 1, 2}, 2.0)};
  const auto factors = [&](double t) {
    const at::Tensor seen = profile.signal(u, t).select(3, 1).flatten() / 2;
    return std::vector<float>(seen.const_data_ptr<float>(), seen.const_data_ptr<float>() + 4);
  };
  EXPECT_EQ(factors(0), (std::vector<float>{1, 0, 1, 0}));
  EXPECT_EQ(factors(0.25), (std::vector<float>{1, .25, .75, 0}));
  EXPECT_EQ(factors(0.5), (std::vector<float>{1, .5, .5, 1}));
  EXPECT_EQ(factors(1.0 / 3)[3], 1);  // both ends belong to the window
  EXPECT_EQ(factors(2.0 / 3)[3], 1);
  EXPECT_EQ(factors(1), (std::vector<float>{1, 1, 0, 0}));
  EXPECT_FALSE(profile.signal({}, 0.5).defined());
  const Control wrong{at::zeros({4, 1, 1, 3})};
  EXPECT_THROW(profile.signal(wrong, 0.5), ShapeError);
}

TEST(ControlOfAModel, IsTheSignalOfPassesThatAreNotGivenOne) {
  ModelOptions o = small_options("standard", 2);
  o.control = {.axes = 2, .layers = {1}, .constant = {{1, -1}, {.5, 0}}};
  const at::NoGradGuard no_grad;
  const Built built = built_and_moved(o, at::kFloat);
  const at::Tensor tokens = some_tokens(o);
  const Control same{at::tensor({1.0F, -1.0F, .5F, 0.0F}).view({2, 1, 1, 2})};
  const at::Tensor own = built.model->logits(tokens, {});
  EXPECT_TRUE(same_bits(own, built.model->logits(tokens, {.control = same})));
  EXPECT_GT((own - built.model->logits(tokens, {.control = {at::zeros({2, 1, 1, 2})}}))
                .abs()
                .max()
                .item<float>(),
            1e-3);
  EXPECT_TRUE(built.model->dead_parameters().empty()) << "text trains the map under this signal";
  o.control.constant.clear();
  const Built silent(o, {3, 4});
  ASSERT_EQ(silent.model->dead_parameters().size(), 1U);
  EXPECT_EQ(silent.model->dead_parameters().front().name, "layers.1.control.weight");
}

}  // namespace control_test
}  // namespace depthgrid::testing
