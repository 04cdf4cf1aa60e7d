#include "worker/eval/loss_change.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

namespace depthgrid {
namespace loss_change_test {

/// Each prediction costs 2 nats, and in cell 1 a quarter more under any signal, u = 0 included.
class BiasedModel final : public LanguageModel {
 public:
  Losses losses(const Batch&) override { return {}; }
  Scores score(const Batch& batch) override {
    const at::Tensor& u = batch.control.u;
    const std::int64_t rows = batch.windows.size(1), tokens = batch.windows.size(2) - 1;
    at::Tensor loss = at::full({2, rows, tokens}, 2.0F);
    if (!u.defined()) return {loss, {}};
    EXPECT_EQ(u.sizes(), (at::IntArrayRef{2, rows, 1, 3}));
    EXPECT_EQ(u.abs().max().item<float>(), 0);
    loss.select(0, 1).add_(0.25F);
    return {loss, {}};
  }
};

std::optional<std::vector<double>> costs_of(std::int64_t tokens, int calls_until_stop = -1) {
  const CellConfig config = make_config({{"data.seq_len", 4}, {"eval.batch_size", 2}});
  Dataset data;
  if (tokens > 0) {
    const std::vector<std::uint32_t> ids(static_cast<std::size_t>(tokens), 1);
    data.streams[static_cast<std::size_t>(Split::Valid)] = TokenStream::from_ids(ids, 10, 0);
  }
  const EvalPlan plan(config, data, 2);
  BiasedModel model;
  return neutral_costs(model, plan, data, 2, 3, [&] { return calls_until_stop-- == 0; });
}

TEST(NeutralCost, IsTheLossAtZeroLessThatWithoutASignal) {
  for (const std::int64_t tokens : {21, 19}) {  // the last window whole, and in part
    const auto costs = costs_of(tokens).value();
    EXPECT_EQ(costs[0], 0);
    EXPECT_DOUBLE_EQ(costs[1], 0.25);
  }
}

TEST(NeutralCost, IsNotThereWithoutASplitOrOnceStopped) {
  EXPECT_TRUE(std::isnan(costs_of(0).value()[1]));
  EXPECT_FALSE(costs_of(21, 0));
  EXPECT_FALSE(costs_of(21, 1));
}

}  // namespace loss_change_test
}  // namespace depthgrid
