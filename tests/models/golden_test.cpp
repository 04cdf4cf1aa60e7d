// Numbers of reference programs (tests/golden/*.py), written apart from the families: logits, loss
// and gradients in float64.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace {

constexpr double kTolerance = 1e-10;
constexpr std::int64_t kSequences = 2, kTokens = 5;

/// What every parameter is there and here: 0.35 sin(1.7 n + phase of its name).
void fill(Arena& arena) {
  const at::NoGradGuard no_grad;
  for (const ParameterSlot& slot : arena.layout().slots()) {
    int phase = 0;
    for (const char c : slot.spec.name) phase += static_cast<unsigned char>(c);
    const at::Tensor n = at::arange(slot.count, at::kDouble);
    const at::Tensor value = (n * 1.7 + phase % 97).sin() * 0.35;
    slot_view(arena.values(), slot).copy_(value.view(slot_view(arena.values(), slot).sizes()));
  }
}

double distance(double ours, double theirs) {
  return std::abs(ours - theirs) / std::max(1.0, std::abs(theirs));
}

struct GoldenCase {
  std::string name;
  nlohmann::json numbers;
};

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, LogitsLossAndGradientsAreTheReferences) {
  const nlohmann::json& theirs = GetParam().numbers;
  const std::vector<ModelCase> cases = model_cases();
  const auto found = std::ranges::find(cases, GetParam().name, &ModelCase::name);
  ASSERT_NE(found, cases.end()) << "no such case in model_cases.hpp";
  ModelOptions o = small_options(found->family);
  found->change(o);
  ParameterLayout layout;
  Model(layout, o);
  Arena arena(layout, {1}, at::kDouble);
  const Model model(arena, o);
  fill(arena);
  const at::Tensor i = at::arange(kSequences * (kTokens + 1), at::kLong);
  const at::Tensor windows =
      ((i * i * 5 + i * 11 + 1) % o.vocabulary).view({1, kSequences, kTokens + 1});

  const at::Tensor logits = model.logits(windows.narrow(2, 0, kTokens), {});
  const at::Tensor loss = CellLanguageModel(model, {1}).training_loss(windows, 1, 0);
  loss.backward(at::ones({1}, at::kDouble));

  const auto values = theirs.at("logits").get<std::vector<double>>();
  const at::Tensor want = at::tensor(values, at::kDouble);
  ASSERT_EQ(logits.numel(), want.numel());
  EXPECT_LT((logits.flatten() - want).abs().max().item<double>(), kTolerance);
  EXPECT_LT(distance(loss.item<double>(), theirs.at("loss")), kTolerance);
  EXPECT_EQ(arena.layout().slots().size(), theirs.at("gradients").size());
  for (const ParameterSlot& slot : arena.layout().slots()) {
    const auto pair = theirs.at("gradients").at(slot.spec.name).get<std::vector<double>>();
    const at::Tensor g = slot_view(arena.gradients(), slot).flatten();
    const at::Tensor along = (at::arange(slot.count, at::kDouble) * 0.9 + 0.4).sin();
    EXPECT_LT(distance(g.norm().item<double>(), pair[0]), kTolerance) << slot.spec.name;
    EXPECT_LT(distance((g * along).sum().item<double>(), pair[1]), kTolerance) << slot.spec.name;
  }
}

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  const std::vector<ModelCase> known = model_cases();
  for (const auto& file :
       std::filesystem::directory_iterator(DEPTHGRID_SOURCE_DIR "/tests/golden")) {
    if (file.path().extension() != ".json") continue;
    const nlohmann::json all = nlohmann::json::parse(std::ifstream(file.path()));
    if (!all.is_object()) continue;  // a list: numbers of one operation, which has its own test
    for (const auto& [name, numbers] : all.items()) {
      cases.push_back({name, numbers});
      // Gathered execution has no numbers of its own.
      const std::string other = name + "_gathered";
      const bool gathers = std::ranges::find(known, other, &ModelCase::name) != known.end();
      if (gathers) cases.push_back({other, numbers});
    }
  }
  std::ranges::sort(cases, {}, &GoldenCase::name);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(References, Golden, ::testing::ValuesIn(golden_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace depthgrid::testing
