#include "core/train/evaluation.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <torch/types.h>

namespace depthgrid {
namespace evaluation_test {

/// Says loss = target / 10 for cell 0 and twice that for cell 1; right where the target is even.
class TableModel final : public LanguageModel {
 public:
  Losses losses(const Batch&) override { return {}; }
  Scores score(const Batch& batch) override {
    const at::Tensor target = batch.windows[0].narrow(1, 1, batch.windows.size(2) - 1);
    const at::Tensor loss = target.to(at::kFloat) / 10;
    return {torch::stack({loss, 2 * loss}), torch::stack({target % 2 == 0, target % 2 == 1})};
  }
};

TEST(Evaluation, CoversEveryTokenButTheFirstOnce) {
  std::vector<std::uint32_t> ids(23);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint32_t>(i);
  const TokenStream stream = TokenStream::from_ids(ids, 64, 46);
  TableModel model;

  const auto r = evaluate(model, 2, stream, all_windows(stream.size(), 5), 3);

  const double mean = 0.1 * (22.0 * 23 / 2) / 22;  // targets 1 … 22
  ASSERT_EQ(r.size(), 2);
  EXPECT_EQ(r[0].tokens, 22);
  EXPECT_NEAR(r[0].loss, mean, 1e-6);
  EXPECT_NEAR(r[1].loss, 2 * mean, 1e-6);
  EXPECT_NEAR(r[0].perplexity, std::exp(mean), 1e-5);
  EXPECT_NEAR(r[0].bits_per_byte, mean / (2 * std::numbers::ln2), 1e-6);  // 46 bytes, 23 tokens
  EXPECT_DOUBLE_EQ(r[0].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(r[1].accuracy, 0.5);
  EXPECT_NEAR(r[0].by_position[0], 0.1 * (1 + 6 + 11 + 16 + 21) / 5.0, 1e-6);
  EXPECT_NEAR(r[0].by_position[4], 0.1 * (5 + 10 + 15 + 20) / 4.0, 1e-6);
  EXPECT_GT(r[0].error, 0);
}

TEST(Evaluation, DoesNotDependOnTheBatchSize) {
  std::vector<std::uint32_t> ids(101, 7);
  const TokenStream stream = TokenStream::from_ids(ids, 64, 0);
  TableModel model;

  const auto one = evaluate(model, 2, stream, all_windows(stream.size(), 8), 1);
  const auto many = evaluate(model, 2, stream, all_windows(stream.size(), 8), 64);

  EXPECT_EQ(one[0].loss, many[0].loss);
  EXPECT_TRUE(std::isnan(one[0].bits_per_byte));  // no text behind these ids
}

TEST(Evaluation, EndsBeforeTheBatchAtWhichItIsStopped) {
  const TokenStream stream = TokenStream::from_ids(std::vector<std::uint32_t>(101, 7), 64, 0);
  TableModel model;
  int asked = 0;

  const auto r =
      evaluate(model, 2, stream, all_windows(stream.size(), 8), 1, [&] { return ++asked == 3; });

  EXPECT_TRUE(r.empty());
  EXPECT_EQ(asked, 3);
}

}  // namespace evaluation_test
}  // namespace depthgrid
