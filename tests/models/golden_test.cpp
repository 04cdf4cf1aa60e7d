// Numbers of reference programs (tests/golden/*.py), written apart from the families: logits, loss
// and gradients, which the program gives in float64 to rounding, and in float32 to its rounding.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace golden_test {

constexpr double kTolerance = 1e-10;
/// Float32 rounds by 6e-8 an operation. Of the hundred or so that stand in a row before a logit,
/// most roundings cancel: the references run in float32 are off by 1e-7 to 6e-7 of the largest
/// logit. A product of TF32 or bf16 factors (5e-4, 4e-3) is far above.
constexpr double kSingleOutputs = 5e-6;
/// Gradients are sums over tokens and layers whose terms cancel in part: those of the references
/// are off by up to 1e-5 of their scale, which kSmallGradient says.
constexpr double kSingleGradients = 1e-4;
/// A gradient is measured by its own norm, but by no less than this share of the model's largest:
/// rounding comes from the terms, not from what is left of them (those of a gate of q or k cancel
/// to 1e-7, that of a generated bias of k to nothing).
constexpr double kSmallGradient = 0.01;
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

/// What the program makes of a case, as float64.
struct GoldenRun {
  ParameterLayout layout;
  at::Tensor logits;  // flat
  double loss;
  at::Tensor gradients;  // (1, P)

  /// Of a gradient, what the references keep: its norm, and its product with a wave.
  std::array<double, 2> kept(const ParameterSlot& slot) const {
    const at::Tensor g = slot_view(gradients, slot).flatten();
    const at::Tensor along = (at::arange(slot.count, at::kDouble) * 0.9 + 0.4).sin();
    return {g.norm().item<double>(), (g * along).sum().item<double>()};
  }
};

GoldenRun run_in(at::ScalarType type, const ModelCase& one) {
  ModelOptions o = small_options(one.family);
  one.change(o);
  ParameterLayout layout;
  Model(layout, o);
  Arena arena(layout, {1}, type);
  const Model model(arena, o);
  fill(arena);
  const at::Tensor i = at::arange(kSequences * (kTokens + 1), at::kLong);
  const at::Tensor windows =
      ((i * i * 5 + i * 11 + 1) % o.vocabulary).view({1, kSequences, kTokens + 1});

  const at::Tensor logits = model.logits(windows.narrow(2, 0, kTokens), {});
  EXPECT_EQ(logits.scalar_type(), type);
  const at::Tensor loss = CellLanguageModel(model, {1}).losses({windows, 1}).total;
  loss.backward(at::ones({1}, type));
  return {layout, logits.detach().flatten().to(at::kDouble), loss.item<double>(),
          arena.gradients().to(at::kDouble)};
}

class Golden : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    const std::vector<ModelCase> cases = model_cases();
    const auto found = std::ranges::find(cases, GetParam().name, &ModelCase::name);
    ASSERT_NE(found, cases.end()) << "no such case in model_cases.hpp";
    case_ = *found;
    const nlohmann::json& theirs = GetParam().numbers;
    logits_ = at::tensor(theirs.at("logits").get<std::vector<double>>(), at::kDouble);
    loss_ = theirs.at("loss");
    gradients_ = theirs.at("gradients").get<std::map<std::string, std::array<double, 2>>>();
  }

  ModelCase case_;
  at::Tensor logits_;
  double loss_ = 0;
  std::map<std::string, std::array<double, 2>> gradients_;
};

TEST_P(Golden, LogitsLossAndGradientsAreTheReferences) {
  const GoldenRun ours = run_in(at::kDouble, case_);

  ASSERT_EQ(ours.logits.numel(), logits_.numel());
  EXPECT_LT((ours.logits - logits_).abs().max().item<double>(), kTolerance);
  EXPECT_LT(distance(ours.loss, loss_), kTolerance);
  EXPECT_EQ(ours.layout.slots().size(), gradients_.size());
  for (const ParameterSlot& slot : ours.layout.slots()) {
    const std::array<double, 2> mine = ours.kept(slot), want = gradients_.at(slot.spec.name);
    EXPECT_LT(distance(mine[0], want[0]), kTolerance) << slot.spec.name;
    EXPECT_LT(distance(mine[1], want[1]), kTolerance) << slot.spec.name;
  }
}

TEST_P(Golden, InSinglePrecisionTheyDifferByItsRoundingOnly) {
  const GoldenRun ours = run_in(at::kFloat, case_);

  ASSERT_EQ(ours.logits.numel(), logits_.numel());
  EXPECT_LT((ours.logits - logits_).abs().max().item<double>(),
            kSingleOutputs * logits_.abs().max().item<double>());
  EXPECT_LT(std::abs(ours.loss - loss_), kSingleOutputs * std::abs(loss_));
  double largest = 0;
  for (const auto& [name, kept] : gradients_) largest = std::max(largest, kept[0]);
  for (const ParameterSlot& slot : ours.layout.slots()) {
    const std::array<double, 2> mine = ours.kept(slot), want = gradients_.at(slot.spec.name);
    const double allowed = kSingleGradients * std::max(want[0], kSmallGradient * largest);
    EXPECT_LT(std::abs(mine[0] - want[0]), allowed) << slot.spec.name;
    EXPECT_LT(std::abs(mine[1] - want[1]), allowed) << slot.spec.name;
  }
}

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  const std::vector<ModelCase> known = model_cases();
  for (const auto& file : std::filesystem::directory_iterator(source_folder() / "tests/golden")) {
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

}  // namespace golden_test
}  // namespace depthgrid::testing
