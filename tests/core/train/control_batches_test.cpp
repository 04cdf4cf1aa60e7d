// Signals made of labels: their shares, their place in the text, and that nothing but (seed, step,
// row) decides them.
#include "core/train/control_batches.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

namespace depthgrid {
namespace control_batches_test {

constexpr std::int64_t kTokens = 8;
constexpr std::int64_t kLength = 400;  // of the text

/// Sentences of five tokens; the labels of axis 0 rise from -1 to 1, of axis 1 they are ±1, and
/// every seventh sentence has none.
SentenceLabels some_labels() {
  SentenceLabels out;
  out.axes = 2;
  for (std::int64_t i = 0; i < kLength; ++i)
    out.segment.push_back(static_cast<std::int32_t>(i / 5));
  for (std::int64_t s = 0; s < kLength / 5; ++s) {
    const bool none = s % 7 == 6;
    const auto rising = static_cast<float>(-1 + 2 * static_cast<double>(s) / (kLength / 5.0 - 1));
    out.u.push_back(none ? std::nanf("") : rising);
    out.u.push_back(none ? std::nanf("") : s % 2 == 0 ? 1.0F : -1.0F);
    for (int k = 0; k < 2; ++k) out.positive.push_back(none ? -1 : s % 2 == 0 ? 1 : 0);
  }
  return out;
}

const std::vector<AttributeKind> kKinds = {AttributeKind::Ordinal, AttributeKind::Binary};

std::vector<float> drawn(const ControlDraws& draws, std::int64_t start, std::int64_t step,
                         std::int64_t row = 0, std::uint64_t seed = 1) {
  static const SentenceLabels labels = some_labels();
  std::vector<float> out(static_cast<std::size_t>((draws.window ? 1 : kTokens) * 2));
  draw_control(draws, labels, kKinds, start, kTokens, seed, step, row, out);
  return out;
}

/// Every window is labelled as it is: no noise, no axis is left out.
ControlDraws plain() {
  return {.neutral = 0, .onset = 0, .keep = 1, .noise = 0};
}

TEST(ControlDraws, GiveEachTokenTheLabelOfTheSentenceThatIsPredictedThere) {
  const SentenceLabels labels = some_labels();
  const std::vector<float> u = drawn(plain(), 12, 1);
  for (std::int64_t i = 0; i < kTokens; ++i) {
    const auto segment = static_cast<std::size_t>(labels.segment[static_cast<std::size_t>(13 + i)]);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(u[static_cast<std::size_t>(i) * 2 + k], labels.u[segment * 2 + k]) << i;
    }
  }
  EXPECT_NE(u[2], u[4]) << "token 15 begins another sentence, which input 14 predicts";
}

TEST(ControlDraws, OfUnlabelledSentencesAreZero) {
  const std::vector<float> u = drawn(plain(), 30, 1);  // sentence 6 has tokens 30 to 34
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(u[2 * i], 0) << i;
  EXPECT_NE(u[8], 0);
}

TEST(ControlDraws, HaveTheSharesThatTheLeavesSay) {
  const ControlDraws draws;  // neutral .3, onset .5 of the others
  constexpr int kWindows = 100'000;
  int neutral = 0, onset = 0, kept = 0, both = 0;
  for (int w = 0; w < kWindows; ++w) {
    const std::vector<float> u = drawn(draws, 0, 1 + w / 100, w % 100);
    const bool none = std::ranges::all_of(u, [](float v) { return v == 0; });
    neutral += none ? 1 : 0;
    if (none) continue;
    onset += u[0] == 0 && u[1] == 0 ? 1 : 0;
    const bool first = u[14] != 0, second = u[15] != 0;  // of the last token
    kept += (first ? 1 : 0) + (second ? 1 : 0);
    both += first && second ? 1 : 0;
  }
  EXPECT_NEAR(neutral / 1e5, .30, .01);
  EXPECT_NEAR(onset / 1e5, .35, .01);
  // Of two axes at least one: each is kept in two of three cases, both in one.
  EXPECT_NEAR(kept / (1e5 - neutral), 4.0 / 3, .02);
  EXPECT_NEAR(both / (1e5 - neutral), 1.0 / 3, .01);
}

TEST(ControlDraws, WithAnOnsetBeginBehindASentencesEnd) {
  ControlDraws draws = plain();
  draws.onset = 1;
  std::vector<int> begins(kTokens);
  for (std::int64_t step = 1; step <= 500; ++step) {
    const std::vector<float> u = drawn(draws, 0, step);
    std::size_t first = 0;
    while (u[2 * first + 1] == 0) ++first;
    ++begins[first];
  }
  EXPECT_EQ(begins[4], 500) << "token 5 begins the only other sentence of the window";
  int early = 0;
  for (std::int64_t step = 1; step <= 500; ++step) {
    const std::vector<float> u = drawn(draws, 3, step);  // ends at tokens 5 and 10
    early += u[3] != 0 ? 1 : 0;
    EXPECT_EQ(u[1], 0);
  }
  EXPECT_NEAR(early / 500.0, .5, .1) << "each of both ends is as likely";
}

TEST(ControlDraws, AddNoiseToOrdinalAttributesWithinTheirRange) {
  ControlDraws draws = plain();
  draws.noise = .2;
  double sum = 0, squares = 0;
  constexpr int kDraws = 20'000;
  for (int step = 1; step <= kDraws; ++step) {
    const std::vector<float> u = drawn(draws, 200, step), exact = drawn(plain(), 200, step);
    EXPECT_EQ(u[1], exact[1]) << "binary attributes have none";
    EXPECT_EQ(u[0], u[2]) << "a sentence has one value";
    sum += u[0] - exact[0];
    squares += (u[0] - exact[0]) * (u[0] - exact[0]);
  }
  EXPECT_NEAR(sum / kDraws, 0, .01);
  EXPECT_NEAR(std::sqrt(squares / kDraws), .2, .01);
  draws.noise = 1;
  for (int step = 1; step <= 200; ++step) EXPECT_LE(std::abs(drawn(draws, 395 - 8, step)[0]), 1);
  draws.ternary = true;
  for (int step = 1; step <= 200; ++step) {
    const float u = drawn(draws, 200, step)[0];
    EXPECT_TRUE(u == -1 || u == 0 || u == 1);
  }
}

TEST(ControlDraws, OfAWindowAreTheMeanOverItsTokens) {
  ControlDraws draws = plain();
  draws.window = true;
  const std::vector<float> one = drawn(draws, 12, 1), each = drawn(plain(), 12, 1);
  float sum = 0;
  for (std::size_t i = 0; i < kTokens; ++i) sum += each[2 * i];
  EXPECT_FLOAT_EQ(one[0], sum / kTokens);
}

TEST(ControlDraws, OfADocumentAreNeutralWhereAWindowCrossesIntoAnother) {
  static SentenceLabels documents;
  documents.axes = 2;
  documents.segment.assign(static_cast<std::size_t>(kLength), 0);
  std::fill(documents.segment.begin() + kLength / 2, documents.segment.end(), 1);
  documents.u = {0.5F, 1, -0.25F, std::nanf("")};
  documents.positive = {1, 1, 0, -1};
  ControlDraws draws = plain();
  draws.window = draws.whole = true;
  const auto of = [&](std::int64_t start) {
    std::vector<float> u(2, 9);
    draw_control(draws, documents, kKinds, start, kTokens, 1, 1, 0, u);
    return u;
  };
  EXPECT_EQ(of(0), (std::vector<float>{0.5F, 1}));
  EXPECT_EQ(of(kLength / 2), (std::vector<float>{-0.25F, 0}));
  EXPECT_EQ(of(kLength / 2 - kTokens - 1), (std::vector<float>{0.5F, 1})) << "its last token";
  EXPECT_EQ(of(kLength / 2 - kTokens), (std::vector<float>{0, 0})) << "one token of the next";
  EXPECT_EQ(of(kLength / 2 - 1), (std::vector<float>{-0.25F, 0}))
      << "the first token is not predicted";
}

TEST(ControlDraws, AreAFunctionOfSeedStepAndRow) {
  const ControlDraws draws;
  const auto many = [&](std::uint64_t seed, std::int64_t step, std::int64_t row) {
    std::vector<float> all;
    for (std::int64_t i = 0; i < 8; ++i) {
      const std::vector<float> u = drawn(draws, 10 * i, step, row + i, seed);
      all.insert(all.end(), u.begin(), u.end());
    }
    return all;
  };
  EXPECT_EQ(many(1, 5, 3), many(1, 5, 3));
  EXPECT_NE(many(1, 5, 3), many(2, 5, 3));
  EXPECT_NE(many(1, 5, 3), many(1, 6, 3));
  EXPECT_NE(many(1, 5, 3), many(1, 5, 11));
}

TEST(ControlBatches, OfACellDoNotDependOnItsNeighboursOrOnHowRowsAreDivided) {
  std::vector<std::uint32_t> ids(kLength);
  std::iota(ids.begin(), ids.end(), 0U);
  const TokenStream stream = TokenStream::from_ids(ids, 65536, 0);
  const Sampler sampler(SamplerKind::Iid, kLength, kTokens, 6);
  const auto labels = std::make_shared<const SentenceLabels>(some_labels());
  const auto cell = [&](std::uint64_t seed, double neutral, std::int64_t first) {
    ControlDraws draws;
    draws.neutral = neutral;
    return ControlBatches::Cell{draws, labels, seed, first};
  };
  const ControlBatches two(stream, sampler, {cell(1, .3, 0), cell(2, .1, 40)}, kKinds);
  const ControlBatches alone(stream, sampler, {cell(2, .1, 0)}, kKinds);
  const Batch both = two.batch(3, 0, 6), own = alone.batch(43, 0, 6);
  EXPECT_EQ(both.control.u.sizes(), at::IntArrayRef({2, 6, kTokens, 2}));
  EXPECT_TRUE(at::equal(both.windows[1], own.windows[0])) << "40 steps were passed over";
  EXPECT_TRUE(at::equal(both.control.u[1], own.control.u[0]));
  const Batch late = two.batch(3, 4, 2);
  EXPECT_TRUE(at::equal(both.control.u.narrow(1, 4, 2), late.control.u));
}

}  // namespace control_batches_test
}  // namespace depthgrid
