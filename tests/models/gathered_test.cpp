// Gathered execution: what the masked one computes, from the executed tokens alone.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "models/blocks/attention.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace gathered_test {

constexpr std::int64_t kTokens = 9;

double largest(const at::Tensor& x) {
  return x.numel() == 0 ? 0 : x.abs().max().item<double>();
}

/// Two models over the same numbers, of which one gathers.
struct Pair {
  Pair(const ModelCase& the_case, at::ScalarType type, double gamma = 0.5, std::int64_t cells = 2)
      : options(small_options(the_case.family, cells)) {
    the_case.change(options);
    options.routing.capacity.assign(static_cast<std::size_t>(cells), gamma);
    for (const bool gathers : {false, true}) {
      ModelOptions& own = gathers ? gathering : masking;
      own = options;
      own.routing.gathered = gathers;
      ParameterLayout layout;
      Model(layout, own);
      auto& arena = gathers ? gathered_arena : masked_arena;
      arena = std::make_unique<Arena>(layout, seeds(cells), type);
      (gathers ? gathered : masked) = std::make_unique<Model>(*arena, own);
    }
    // No token twice: equal ones at the start of a text have equal scores but for rounding, which
    // is another in the two ways, so that TopK may take one here and the other there.
    tokens = at::argsort(at::rand({cells, 3, options.vocabulary})).narrow(2, 0, kTokens + 1);
  }

  static std::vector<std::uint64_t> seeds(std::int64_t n) {
    std::vector<std::uint64_t> out;
    for (std::int64_t e = 0; e < n; ++e) out.push_back(static_cast<std::uint64_t>(e) + 5);
    return out;
  }

  at::Tensor inputs() const { return tokens.narrow(2, 0, kTokens); }

  ModelOptions options, masking, gathering;
  std::unique_ptr<Arena> masked_arena, gathered_arena;
  std::unique_ptr<Model> masked, gathered;
  at::Tensor tokens;
};

std::vector<ModelCase> comparable_cases() {
  std::vector<ModelCase> out;
  for (const ModelCase& one : model_cases()) {
    const bool skips = one.family == "tdt" || one.family == "mod";
    // Draws of dropout belong to the places of a tensor, so that both ways have others.
    const auto has = [&](const char* part) { return one.name.find(part) != std::string::npos; };
    const bool same = !has("dropout") && !has("_gathered");
    if (skips && same) out.push_back(one);
  }
  return out;
}

class Gathered : public ::testing::TestWithParam<ModelCase> {};

TEST_P(Gathered, TrainingIsThatOfMaskedExecutionToRounding) {
  const Pair p(GetParam(), at::kDouble);
  const auto run = [&](const Model& model, Arena& arena) {
    CellLanguageModel language(model, Pair::seeds(2));
    const Objective::Losses losses = language.losses({p.tokens, 1});
    losses.total.backward(at::full({2}, 1.0 / 27, at::kDouble));
    return std::pair(losses.total.detach(), arena.gradients());
  };

  const auto [loss, gradients] = run(*p.masked, *p.masked_arena);
  const auto [other, others] = run(*p.gathered, *p.gathered_arena);

  EXPECT_LT(largest(loss - other), 1e-10);
  EXPECT_LT(largest(gradients - others), 1e-10);
  EXPECT_GT(largest(gradients), 1e-3);
}

TEST_P(Gathered, ATeachersTopKIsThatOfMaskedExecutionToRounding) {
  const Pair p(GetParam(), at::kDouble, 0.34);
  const ForwardContext topk{.execution = Execution{.mode = ExecutionMode::TeacherTopk}};

  const at::Tensor masked = p.masked->logits(p.inputs(), topk);

  EXPECT_LT(largest(masked - p.gathered->logits(p.inputs(), topk)), 1e-10);
}

TEST_P(Gathered, SinglePrecisionAgreesToo) {
  const Pair p(GetParam(), at::kFloat);
  const ForwardContext topk{.execution = Execution{.mode = ExecutionMode::TeacherTopk}};

  const at::Tensor masked = p.masked->states(p.inputs(), topk);

  const at::Tensor gathered = p.gathered->states(p.inputs(), topk);
  EXPECT_LT(largest(masked - gathered), 1e-4 * std::max(1.0, largest(masked)));
}

INSTANTIATE_TEST_SUITE_P(EveryOption, Gathered, ::testing::ValuesIn(comparable_cases()),
                         [](const auto& p) { return p.param.name; });

ModelCase case_of(const std::string& name) {
  const std::vector<ModelCase> all = model_cases();
  return *std::ranges::find(all, name, &ModelCase::name);
}

TEST(GatheredExecution, ComputesTheExecutedTokensOnly) {
  // A NaN in a skipped token's state reaches nothing but itself: no product has seen it.
  for (const std::string name : {"tdt_plain", "mod_plain", "tdt_lanes", "mod_lanes"}) {
    ModelCase one = case_of(name);
    one.change = [change = one.change](ModelOptions& o) {
      change(o);
      o.layers = 1;
      o.routing.layers = {0};
    };
    Pair p(one, at::kFloat, 4.0 / kTokens, 1);
    at::Tensor masks = at::full({1, 3, kTokens, 1}, false, at::kBool);
    for (const std::int64_t t : {0, 2, 3, 7}) masks.select(2, t).fill_(true);
    Execution held{.mode = ExecutionMode::Forced};
    held.forced = masks;
    p.tokens.remainder_(p.options.vocabulary - 1);
    const at::Tensor before = p.gathered->states(p.inputs(), {.execution = held});
    const at::NoGradGuard no_grad;
    slot_view(p.gathered_arena->values(), p.gathered_arena->layout().find("embedding.weight"))
        .select(1, p.options.vocabulary - 1)
        .fill_(std::nan(""));
    at::Tensor poisoned = p.inputs().clone();
    for (const std::int64_t t : {1, 4, 8}) {
      poisoned.select(2, t).fill_(p.options.vocabulary - 1);
    }
    const at::Tensor after = p.gathered->states(poisoned, {.execution = held});

    for (const std::int64_t t : {0, 2, 3, 5, 6, 7}) {
      EXPECT_TRUE(at::equal(before.select(2, t), after.select(2, t))) << name << " " << t;
    }
    for (const std::int64_t t : {1, 4, 8}) {
      EXPECT_TRUE(after.select(2, t).isnan().all().item<bool>()) << name << " " << t;
    }
  }
}

TEST(GatheredExecution, NoTokensAndAllTokensAreExecuted) {
  const ForwardContext topk{.execution = Execution{.mode = ExecutionMode::TeacherTopk}};
  const ForwardContext none{.execution = Execution{.mode = ExecutionMode::SkipAll}};
  for (const std::string name : {"tdt_plain", "mod_plain", "tdt_lanes"}) {
    const Pair nothing(case_of(name), at::kFloat, 0.1);
    EXPECT_TRUE(at::equal(nothing.gathered->states(nothing.inputs(), topk),
                          nothing.gathered->states(nothing.inputs(), none)))
        << name;
    const Pair all(case_of(name), at::kDouble, 1);
    const ForwardContext dense{.execution = Execution{.mode = ExecutionMode::Dense}};
    EXPECT_LT(largest(all.gathered->states(all.inputs(), topk) -
                      all.gathered->states(all.inputs(), dense)),
              1e-10)
        << name;
  }
}

TEST(GatheredExecution, OtherLengthsAreMasked) {
  // Cells of equal k at one length may have different ones at another.
  Pair p(case_of("tdt_lanes"), at::kFloat, 0.5, 2);
  p.gathering.routing.gathered_length = kTokens + 1;
  p.gathering.routing.capacity = {0.5, 0.59};
  const Model model(*p.gathered_arena, p.gathering);
  p.masking.routing.capacity = p.gathering.routing.capacity;
  const Model masked(*p.masked_arena, p.masking);
  const ForwardContext topk{.execution = Execution{.mode = ExecutionMode::TeacherTopk}};

  EXPECT_TRUE(at::equal(model.states(p.inputs(), topk), masked.states(p.inputs(), topk)));
  EXPECT_FALSE(at::equal(model.states(p.tokens, topk), masked.states(p.tokens, topk)));
}

TEST(GatheredExecution, ThePositionsOfEachSequenceReachEveryKernel) {
  // Rows of one call equal the same rows alone, with tables of their own.
  for (const std::int64_t width : {32, 20}) {
    ModelOptions o = small_options("tdt", 2);
    o.width = width;
    const std::int64_t k = 4;
    const at::Tensor qkv = at::randn({2, 3, k, 3 * width});
    const at::Tensor index = at::randint(1, 5, {2, 3, k}, at::kLong).cumsum(-1);
    const RotaryAngles all = rotary_angles(o, 0, 20, qkv);
    const at::Tensor together = causal_attention(o, qkv, 0, {}, at_places(all, index));
    o.attention = AttentionKind::Explicit;
    const at::Tensor written = causal_attention(o, qkv, 0, {}, at_places(all, index));
    EXPECT_LT(largest(together - written), 1e-5);
    for (std::int64_t b = 0; b < 3; ++b) {
      const at::Tensor alone =
          causal_attention(o, qkv.narrow(1, b, 1), 0, {}, at_places(all, index.narrow(1, b, 1)));
      EXPECT_LT(largest(alone - written.narrow(1, b, 1)), 1e-5) << b;
    }
  }
}

}  // namespace gathered_test
}  // namespace depthgrid::testing
