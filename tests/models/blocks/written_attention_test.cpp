#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include "models/blocks/attention.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid::testing {
namespace written_attention_test {

// 4 heads of 128 x 128 scores are 256 kB: four sequences fit at once.
TEST(WrittenAttention, HasTheSameBitsSomeSequencesAtATime) {
  constexpr std::int64_t kTokens = 128, kHeads = 4;
  const ModelOptions o = small_options("standard");
  for (const std::int64_t rows : {1, 2, 5, 9, 33}) {
    const auto draw = [&] { return at::randn({rows, kHeads, kTokens, 16}); };
    const Heads heads{draw(), draw(), draw()};
    const at::Tensor future = at::ones({kTokens, kTokens}, at::kBool).triu(1);
    const at::Tensor own =
        at::rand({rows, 1, kTokens, kTokens})
            .lt(0.5)
            .logical_and(at::ones({kTokens, kTokens}, at::kBool)
                             .triu(1)
                             .logical_or(at::ones({kTokens, kTokens}, at::kBool).tril(-1)));
    for (const at::Tensor& hidden : {future, own}) {
      const at::Tensor whole = written_attention(o, heads, hidden, 0, {});
      const at::NoGradGuard no_grad;
      EXPECT_TRUE(at::equal(written_attention(o, heads, hidden, 0, {}), whole)) << rows;
    }
  }
}

}  // namespace written_attention_test
}  // namespace depthgrid::testing
