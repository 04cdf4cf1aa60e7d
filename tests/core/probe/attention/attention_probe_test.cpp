#include "core/probe/attention/attention_probe.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace attention_probe_test {

/// Attention of the steps, (E, n, H, T, T) each; a step without attention is undefined.
class WithAttention final : public FakeSubject {
 public:
  explicit WithAttention(std::vector<at::Tensor> weights)
      : FakeSubject(std::vector<at::Tensor>(
                        weights.size() + 1,
                        at::zeros({weights[0].size(0), weights[0].size(1), weights[0].size(3), 2})),
                    at::zeros({weights[0].size(0), static_cast<std::int64_t>(weights.size()) + 1},
                              at::kDouble)),
        weights_(std::move(weights)) {}

  std::int64_t heads() const override { return weights_[0].size(2); }
  void attention(std::int64_t first, std::int64_t count, const AttentionSink& sink) const override {
    asked.push_back(count);
    for (std::size_t l = 0; l < weights_.size(); ++l) {
      if (!weights_[l].defined()) continue;
      sink(static_cast<std::int64_t>(l), weights_[l].narrow(1, first, count));
    }
  }

  mutable std::vector<std::int64_t> asked;

 private:
  std::vector<at::Tensor> weights_;
};

at::Tensor random_attention(std::int64_t cells, std::int64_t n, std::int64_t tokens) {
  const at::Tensor scores = at::randn({cells, n, 2, tokens, tokens});
  const at::Tensor past = at::tril(at::softmax(scores, -1));
  return past / past.sum(-1, true);
}

RecordedRows look(const WithAttention& subject) {
  AttentionProbe probe(subject, ProbeSchedule("end", 1));
  RecordedRows out;
  probe.declare(out);
  probe.measure(1, out);
  return out;
}

TEST(AttentionProbe, IsTheMeanOverSequencesByStepAndHead) {
  const std::int64_t tokens = 4;
  at::Tensor weights = at::zeros({1, 2, 2, tokens, tokens});
  weights.select(2, 0).diagonal(0, -2, -1).fill_(1);  // head 0 looks at itself
  weights[0][0][1].select(1, 0).fill_(1);             // head 1: the first token,
  weights[0][1][1].diagonal(0, -2, -1).fill_(1);      // in the second sequence itself
  const RecordedRows rows = look(WithAttention({weights, at::Tensor()}));
  const std::vector<double>& distance = rows.row("attention_distance");
  ASSERT_EQ(distance.size(), 4U) << "two steps of two heads";
  EXPECT_EQ(distance[0], 0);
  EXPECT_EQ(distance[1], 1) << "half of (1 + 2 + 3)/3";
  EXPECT_EQ(rows.row("attention_first_share")[1], 0.5);
  EXPECT_EQ(rows.row("attention_self_share")[1], 0.5);
  EXPECT_EQ(rows.row("attention_entropy")[0], 0);
  EXPECT_TRUE(std::isnan(distance[2]) && std::isnan(distance[3])) << "a step without attention";
}

TEST(AttentionProbe, ACellHasItsBitsAloneAndBesideOneThatDiverged) {
  at::Tensor both = random_attention(2, 5, 6);
  const RecordedRows alone = look(WithAttention({both.narrow(0, 0, 1).clone()}));
  both.select(0, 1).fill_(kNaN);
  const RecordedRows fused = look(WithAttention({both}));
  for (const SeriesSpec& series : alone.series) {
    EXPECT_EQ(fused.row(series.name), alone.row(series.name)) << series.name;
    EXPECT_TRUE(std::isnan(fused.row(series.name, 1)[0])) << series.name;
  }
}

TEST(AttentionProbe, LongSequencesComeInSmallPieces) {
  const WithAttention subject({random_attention(1, 3, 900)});  // 2 * 900 * 900 numbers each
  look(subject);
  EXPECT_EQ(subject.asked, (std::vector<std::int64_t>{1, 1, 1}));
}

// Known answers: attention that is uniform, that is on one token, and that cannot be chosen.

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

}  // namespace attention_probe_test
}  // namespace depthgrid::testing
