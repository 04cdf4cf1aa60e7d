#include "models/blocks/ssm_mixer.hpp"

#include <cmath>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/probe/ssm/transitions.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace ssm_mixer_test {

using nlohmann::json;

at::Tensor tensor_of(const json& numbers) {
  const auto shape = numbers.at("shape").get<std::vector<std::int64_t>>();
  return at::tensor(numbers.at("values").get<std::vector<double>>(), at::kDouble).view(shape);
}

Discretisation rule_of(const std::string& word) {
  if (word == "zoh") return Discretisation::Zoh;
  return word == "euler" ? Discretisation::Euler : Discretisation::None;
}

/// Leaves of a golden case as a system of one cell with one node.
std::map<std::string, at::Tensor> leaves_of(const json& the_case, at::ScalarType type) {
  std::map<std::string, at::Tensor> leaves;
  for (const auto& [name, numbers] : the_case.at("leaves").items()) {
    leaves[name] = tensor_of(numbers).to(type).requires_grad_();
  }
  return leaves;
}

at::Tensor outputs(const json& the_case, std::map<std::string, at::Tensor>& leaves) {
  const auto node = [&](const std::string& name) {
    return leaves.contains(name) ? leaves[name].unsqueeze(0).unsqueeze(0) : at::Tensor();
  };
  const SsmAtNodes nodes{node("a"), node("b"), node("c"), node("d"), node("delta")};
  const std::vector<SsmSystem> systems = discretise(rule_of(the_case.at("rule")), nodes);
  return mix(systems.at(0), leaves["x"].unsqueeze(0)).squeeze(0);
}

TEST(SsmMixer, OutputsAndGradientsAreThoseOfTheReference) {
  std::ifstream file(source_folder() / "tests/golden/ssm.json");
  const json cases = json::parse(file);
  ASSERT_EQ(cases.size(), 6);
  for (const json& one : cases) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
      const double tolerance = type == at::kDouble ? 1e-10 : 1e-5;
      auto leaves = leaves_of(one, type);
      const at::Tensor y = outputs(one, leaves);
      torch::autograd::backward({y}, {tensor_of(one.at("weight")).to(type)});
      const auto close = [&](const at::Tensor& got, const json& wanted) {
        const at::Tensor want = tensor_of(wanted);
        return (got.to(at::kDouble) - want).abs().max().item<double>() <
               tolerance * (1 + want.abs().max().item<double>());
      };

      EXPECT_TRUE(close(y, one.at("y"))) << one.at("name");
      for (const auto& [name, wanted] : one.at("gradients").items()) {
        EXPECT_TRUE(close(leaves[name].grad(), wanted)) << one.at("name") << ": " << name;
      }
    }
  }
}

TEST(SsmMixer, ADiagonalMatrixGivesWhatItsDiagonalGives) {
  const at::Tensor a = -at::rand({2, 3, 5}, at::kDouble) * 3;
  SsmAtNodes nodes{a,
                   at::randn({2, 3, 5, 4}, at::kDouble),
                   at::randn({2, 3, 4, 5}, at::kDouble),
                   {},
                   at::rand({2, 3, 5}, at::kDouble)};
  const at::Tensor x = at::randn({2, 2, 9, 4}, at::kDouble);
  for (const Discretisation rule :
       {Discretisation::Zoh, Discretisation::Euler, Discretisation::None}) {
    if (rule == Discretisation::None) nodes.a = a / 4;
    SsmAtNodes full = nodes;
    full.a = nodes.a.diag_embed();
    const auto thin = discretise(rule, nodes), wide = discretise(rule, full);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(at::allclose(mix(thin[i], x), mix(wide[i], x), 1e-10, 1e-10));
    }
  }
}

TEST(SsmMixer, HoldsAConstantInputExactly) {
  // h' = −r h + b x from zero under a constant x, after n tokens: b x (1 − e^(−r n Δ)) / r.
  const double rate = 0.3, step = 0.7;
  const SsmAtNodes nodes{at::full({1, 1, 1}, -rate, at::kDouble),
                         at::full({1, 1, 1, 1}, 2.0, at::kDouble),
                         at::full({1, 1, 1, 1}, 1.0, at::kDouble),
                         {},
                         at::full({1, 1, 1}, step, at::kDouble)};
  const at::Tensor y =
      mix(discretise(Discretisation::Zoh, nodes)[0], at::full({1, 1, 20, 1}, 1.5, at::kDouble));
  for (int n = 1; n <= 20; ++n) {
    EXPECT_NEAR(y[0][0][n - 1][0].item<double>(), 3 * (1 - std::exp(-rate * step * n)) / rate,
                1e-12);
  }
}

TEST(SsmMixer, StartsStableInEveryForm) {
  for (const ModelCase& one : model_cases()) {
    ModelOptions o = small_options(one.family, 3);
    one.change(o);
    if (o.mixer != Mixer::Ssm) continue;
    o.ssm.states = 24;
    const at::Tensor radius = spectral_radius(Built(o, {1, 2, 3}).model->family().transitions());

    EXPECT_EQ(radius.sizes(), (std::vector<std::int64_t>{3, o.layers}));
    EXPECT_LT(radius.max().item<double>(), 1) << one.name;
    EXPECT_GT(radius.min().item<double>(), 0) << one.name;
  }
}

TEST(SsmMixer, ADiagonalTransitionIsStableWhateverTheWeights) {
  for (const double size : {1e-3, 1.0, 30.0}) {
    ModelOptions o = small_options("time_indexed", 2);
    with_state_space(o);
    Built built(o, {1, 2});
    built.arena->values().copy_(at::randn(built.arena->values().sizes()) * size);

    EXPECT_LE(spectral_radius(built.model->family().transitions()).max().item<double>(), 1) << size;
  }
}

TEST(SsmMixer, WithFactorsInBfloat16AModelStaysNearItsFloatSelf) {
  const at::Tensor tokens = at::randint(0, 17, {2, 3, 9}, at::kLong);
  for (const ModelCase& one : model_cases()) {
    ModelOptions o = small_options(one.family, 2);
    one.change(o);
    if (o.mixer != Mixer::Ssm) continue;
    const Built narrow(o, {1, 2}, true), wide(o, {1, 2});
    const at::Tensor want = wide.model->logits(tokens, {});
    const at::Tensor error = narrow.model->logits(tokens, {}) - want;

    EXPECT_LT(error.abs().max().item<float>(), 0.05 * want.abs().max().item<float>()) << one.name;
    EXPECT_GT(error.abs().max().item<float>(), 0) << one.name;
  }
}

TEST(SsmStability, OnlyStateSpaceLayersHaveTransitions) {
  EXPECT_FALSE(Built(small_options("time_indexed"), {1}).model->family().transitions().defined());
  EXPECT_FALSE(Built(small_options("standard"), {1}).model->family().transitions().defined());
}

}  // namespace ssm_mixer_test
}  // namespace depthgrid::testing
