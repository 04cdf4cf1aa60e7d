#include <algorithm>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>

#include "models/routing/routing_record.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace causality_test {

/// The masks of one pass, to be executed again whatever the tokens are.
Execution frozen(const Built& built, const at::Tensor& tokens, ForwardContext context) {
  RoutingRecord record;
  context.routing = &record;
  built.model->logits(tokens, context);
  std::vector<std::int64_t> sizes = tokens.sizes().vec();
  sizes.push_back(built.options.layers);
  at::Tensor masks = at::ones(sizes, at::kBool);
  for (const LayerRouting& layer : record.layers) {
    masks.select(3, layer.layer).copy_(layer.executed);
  }
  return {.mode = ExecutionMode::Forced, .decider = {}, .thresholds = {}, .forced = masks};
}

class Causality : public ::testing::TestWithParam<ModelCase> {
 protected:
  Causality() {
    options_ = small_options(GetParam().family, 2);
    GetParam().change(options_);
    built_ = std::make_unique<Built>(options_, std::vector<std::uint64_t>{3, 4});
    tokens_ = at::randint(0, options_.vocabulary, {2, 3, 9}, at::kLong);
  }

  ModelOptions options_;
  std::unique_ptr<Built> built_;
  at::Tensor tokens_;
};

TEST_P(Causality, LogitsBeforeAChangeKeepTheirBits) {
  for (const bool training : {false, true}) {
    ForwardContext context{.training = training, .step = 1, .seeds = &built_->seeds};
    if (training && !built_->model->family().training_mode().causal) {
      // The declaration must be the whole leak: with the masks frozen nothing else is.
      context.execution = frozen(*built_, tokens_, context);
    }
    const at::Tensor before = built_->model->logits(tokens_, context);
    for (const std::int64_t cut : {1, 2, 4, 7, 8}) {
      at::Tensor changed = tokens_.clone();
      at::Tensor tail = changed.narrow(2, cut, 9 - cut);
      tail.copy_((tail + 5) % options_.vocabulary);

      const at::Tensor after = built_->model->logits(changed, context);

      EXPECT_TRUE(at::equal(before.narrow(2, 0, cut), after.narrow(2, 0, cut))) << "cut " << cut;
      EXPECT_FALSE(at::equal(before.narrow(2, cut, 1), after.narrow(2, cut, 1)));
    }
  }
}

TEST_P(Causality, EveryModeKeepsItsDeclaration) {
  for (const DeclaredMode& mode : built_->model->family().modes()) {
    const ForwardContext context{.execution = Execution{mode.mode, mode.decider, {}, {}}};
    const at::Tensor before = built_->model->logits(tokens_, context);
    bool leaks = false;
    for (std::int64_t cut = 1; cut < 9; ++cut) {
      at::Tensor changed = tokens_.clone();
      at::Tensor tail = changed.narrow(2, cut, 9 - cut);
      tail.copy_((tail + 5) % options_.vocabulary);
      const at::Tensor after = built_->model->logits(changed, context);
      leaks = leaks || !at::equal(before.narrow(2, 0, cut), after.narrow(2, 0, cut));
    }
    EXPECT_EQ(leaks, !mode.causal) << mode.name;
    EXPECT_EQ(mode.reason.empty(), mode.causal) << mode.name;
  }
}

TEST_P(Causality, ASequenceDoesNotDependOnItsBatch) {
  const at::Tensor all = built_->model->logits(tokens_, {});

  const at::Tensor alone = built_->model->logits(tokens_.narrow(1, 1, 1), {});

  EXPECT_TRUE(at::allclose(all.narrow(1, 1, 1), alone, 1e-5, 1e-5));
}

TEST_P(Causality, EveryParameterReceivesAFiniteGradient) {
  CellLanguageModel model(*built_->model, built_->seeds);
  const at::Tensor windows = at::randint(0, options_.vocabulary, {2, 8, 10}, at::kLong);
  // No gradient passes a matrix that is zero at the start, until its first step.
  for (const ParameterSlot& slot : built_->arena->layout().slots()) {
    at::NoGradGuard no_grad;
    at::Tensor values = slot_view(built_->arena->values(), slot);
    if (values.dim() > 2 && values.eq(0).all().item<bool>()) values.normal_(0, 0.02);
  }

  model.losses({windows, 1}).total.backward(at::full({2}, 1.0 / 72));

  const std::vector<DeadParameter> dead = built_->model->dead_parameters();
  for (const ParameterSlot& slot : built_->arena->layout().slots()) {
    const at::Tensor g = slot_view(built_->arena->gradients(), slot);
    EXPECT_TRUE(g.isfinite().all().item<bool>()) << slot.spec.name;
    const bool declared = std::ranges::count(dead, slot.spec.name, &DeadParameter::name) > 0;
    EXPECT_EQ(g.abs().max().item<float>() > 0, !declared) << slot.spec.name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOption, Causality, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace causality_test
}  // namespace depthgrid::testing
