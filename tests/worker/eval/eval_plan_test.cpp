#include "worker/eval/eval_plan.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>

namespace depthgrid {
namespace eval_plan_test {

/// Says loss = target / 10 for cell 0 and twice that for cell 1; cell 0 is always right, cell 1
/// never.
class TableModel final : public LanguageModel {
 public:
  Losses losses(const Batch&) override { return {}; }
  Scores score(const Batch& batch) override {
    const at::Tensor loss =
        batch.windows[0].narrow(1, 1, batch.windows.size(2) - 1).to(at::kFloat) / 10;
    return {at::stack({loss, 2 * loss}), at::stack({loss.ge(0), loss.lt(0)})};
  }
};

constexpr auto kValid = static_cast<std::size_t>(Split::Valid);

/// Windows of four tokens. The split valid holds 0, 1, 4, 9 … 400: five windows; others are absent.
struct Setting {
  explicit Setting(ValueMap leaves) {
    leaves.emplace_back("data.seq_len", 4);
    config = make_config(leaves);
    std::vector<std::uint32_t> squares;
    for (std::uint32_t i = 0; i <= 20; ++i) squares.push_back(i * i);
    data.streams[kValid] = TokenStream::from_ids(squares, 401, 0);
  }

  CellConfig config;
  Dataset data;
  TableModel model;
};

TEST(EvalPlan, IsDueAtTheStartEveryFewStepsAndAtTheEnd) {
  const Setting s(ValueMap{{"eval.every", 10}});
  const EvalPlan plan(s.config, s.data, 2);

  EXPECT_TRUE(plan.due(0, 25));
  EXPECT_FALSE(plan.due(9, 25));
  EXPECT_TRUE(plan.due(10, 25));
  EXPECT_TRUE(plan.due(25, 25));
}

TEST(EvalPlan, NeedNotBeDueAtTheStart) {
  const Setting s(ValueMap{{"eval.at_start", false}});

  EXPECT_FALSE(EvalPlan(s.config, s.data, 2).due(0, 25));
}

TEST(EvalPlan, LooksAtEvenlySpacedWindowsDuringTraining) {
  Setting s({{"eval.splits", ValueList{"valid", "train"}}, {"eval.windows", 2}});

  const SplitResults results = EvalPlan(s.config, s.data, 2).periodic(s.model);

  // Windows 1 and 3 of five: targets 25, 36, 49, 64 and 169, 196, 225, 256.
  ASSERT_EQ(results[kValid].size(), 2);
  EXPECT_EQ(results[kValid][0].tokens, 8);
  EXPECT_NEAR(results[kValid][0].loss, 12.75, 1e-5);
  EXPECT_NEAR(results[kValid][1].loss, 25.5, 1e-5);
  EXPECT_DOUBLE_EQ(results[kValid][0].accuracy, 1);
  EXPECT_DOUBLE_EQ(results[kValid][1].accuracy, 0);
  EXPECT_TRUE(results[static_cast<std::size_t>(Split::Train)].empty());  // it has no tokens
}

TEST(EvalPlan, LooksAtAllWindowsOfTheFinalSplitsUnlessItIsStopped) {
  Setting s({{"eval.final_splits", ValueList{"valid"}}, {"eval.windows", 2}});
  const EvalPlan plan(s.config, s.data, 2);

  const auto results = plan.final(s.model, {});

  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[kValid][0].tokens, 20);
  EXPECT_NEAR((*results)[kValid][0].loss, 14.35, 1e-5);  // (1 + 4 + … + 400) / 20 / 10
  EXPECT_FALSE(plan.final(s.model, [] { return true; }));
}

TEST(EvalPlan, FollowsThePublishedProtocolOnlyIfAsked) {
  Setting plain(ValueMap{}), asked(ValueMap{{"eval.protocol", "published_1"}});
  asked.data.streams[kValid] = TokenStream::from_ids(std::vector<std::uint32_t>(21, 7), 401, 0);

  const auto losses = EvalPlan(asked.config, asked.data, 2).published(asked.model, 3);

  EXPECT_FALSE(EvalPlan(plain.config, plain.data, 2).published(plain.model, 3));
  ASSERT_TRUE(losses);
  ASSERT_EQ(losses->size(), 2);
  EXPECT_NEAR((*losses)[0], 0.7, 1e-6);
  EXPECT_NEAR((*losses)[1], 1.4, 1e-6);
}

}  // namespace eval_plan_test
}  // namespace depthgrid
