#include "models/ops/hidden_scores.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

namespace depthgrid {
namespace hidden_scores_test {

TEST(HiddenScores, AreThoseOfAMaskedFill) {
  const at::NoGradGuard no_grad;
  constexpr std::int64_t n = 3, heads = 2, tokens = 11;
  const at::Tensor future = at::ones({tokens, tokens}, at::kBool).triu(1);
  const at::Tensor some = at::rand({n, 1, tokens, tokens}).lt(0.4);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const at::Tensor& hidden : {future, some}) {
      at::Tensor scores = at::randn({n, heads, tokens, tokens}, type);
      scores.select(-1, 3).fill_(std::numeric_limits<double>::infinity());  // hidden or not
      const at::Tensor known = scores.masked_fill(hidden, -INFINITY);
      EXPECT_TRUE(at::equal(with_hidden(scores, hidden), known));
    }
  }
}

TEST(HiddenScores, HideWhatIsNotANumber) {
  const at::NoGradGuard no_grad;
  const at::Tensor scores = at::ones({1, 1, 2, 2}) * NAN;
  const at::Tensor hidden = at::ones({2, 2}, at::kBool);
  EXPECT_EQ(with_hidden(scores, hidden).max().item<float>(), -INFINITY);
}

TEST(HiddenScores, KeepTheScoresOfAPassWithGradients) {
  const at::Tensor scores = at::randn({2, 2, 5, 5}).requires_grad_();
  const at::Tensor hidden = at::ones({5, 5}, at::kBool).triu(1), before = scores.detach().clone();
  const at::Tensor out = with_hidden(scores, hidden);
  EXPECT_TRUE(out.requires_grad());
  EXPECT_TRUE(at::equal(scores.detach(), before));
}

}  // namespace hidden_scores_test
}  // namespace depthgrid
