// Known answers: attention that is uniform, that is on one token, and that cannot be chosen.
#include "core/probe/attention/head_attention.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace head_attention_test {

/// (T, T): row i holds `share(i, j)` for j <= i; beyond, what must not be read.
template <class Share>
std::vector<float> weights(std::int64_t tokens, Share share) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      out.push_back(j <= i ? static_cast<float>(share(i, j)) : 1e9F);
    }
  }
  return out;
}

TEST(HeadAttention, UniformAttentionHasEntropyOne) {
  constexpr std::int64_t kTokens = 128;
  const HeadAttention a = head_attention(
      weights(kTokens, [](auto i, auto) { return 1.0 / static_cast<double>(i + 1); }), kTokens);
  verdict(34, "entropy of uniform causal attention", a.entropy, near(1, 1e-6));
  EXPECT_NEAR(a.distance, kTokens / 4.0, 1e-5) << "the mean of i/2 over i = 1 ... 127";
  double harmonic = 0;
  for (std::int64_t i = 1; i < kTokens; ++i) harmonic += 1.0 / static_cast<double>(i + 1);
  EXPECT_NEAR(a.first_share, harmonic / (kTokens - 1), 1e-6);
  EXPECT_NEAR(a.self_share, harmonic / (kTokens - 1), 1e-6);
}

TEST(HeadAttention, AttentionToOneTokenHasNoEntropy) {
  const HeadAttention first =
      head_attention(weights(9, [](auto, auto j) { return j == 0 ? 1 : 0; }), 9);
  verdict(34, "entropy of attention to one token", first.entropy, exactly(0));
  EXPECT_EQ(first.distance, 4.5);
  EXPECT_EQ(first.first_share, 1);
  EXPECT_EQ(first.self_share, 0);
  const HeadAttention self =
      head_attention(weights(9, [](auto i, auto j) { return i == j ? 1 : 0; }), 9);
  EXPECT_EQ(self.entropy, 0);
  EXPECT_EQ(self.distance, 0);
  EXPECT_EQ(self.self_share, 1);
}

TEST(HeadAttention, OneTokenHasNoChoiceAndNaNStaysNaN) {
  EXPECT_TRUE(std::isnan(head_attention(std::vector<float>{1}, 1).entropy));
  const HeadAttention a = head_attention(weights(3, [](auto, auto) { return kNaN; }), 3);
  EXPECT_TRUE(std::isnan(a.entropy) && std::isnan(a.distance) && std::isnan(a.self_share));
}

}  // namespace head_attention_test
}  // namespace depthgrid::testing
