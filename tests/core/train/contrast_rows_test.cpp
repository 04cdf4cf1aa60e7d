// Rows whose sentences are distinguished: which of a batch they are, what is asked of them, and
// that nothing but (seed, step, row) and the labels of the cell decides it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "core/config/cell_config.hpp"
#include "core/train/control_batches.hpp"

namespace depthgrid {
namespace contrast_rows_test {

constexpr std::int64_t kTokens = 8;
constexpr std::int64_t kLength = 400;  // of the text
constexpr std::int64_t kAxes = 3;
const std::vector<AttributeKind> kKinds(kAxes, AttributeKind::Binary);

/// 1, 0 or -1 of a segment and an axis, different for each of these.
std::int8_t flag_of(std::int64_t segment, std::int64_t axis) {
  if (segment % 7 == 6 || (axis == 1 && segment % 3 == 0)) return -1;
  return static_cast<std::int8_t>(segment / (axis + 1) % 2);
}

SentenceLabels labels_of_segments(std::vector<std::int32_t> segment) {
  SentenceLabels out;
  out.axes = kAxes;
  for (std::int64_t s = 0; s <= segment.back(); ++s) {
    for (std::int64_t k = 0; k < kAxes; ++k) {
      out.positive.push_back(flag_of(s, k));
      out.u.push_back(flag_of(s, k) < 0 ? std::nanf("") : static_cast<float>(flag_of(s, k)));
    }
  }
  out.segment = std::move(segment);
  return out;
}

/// Sentences of five tokens. @param shift  of all labels.
std::shared_ptr<const SentenceLabels> some_labels(std::int32_t shift = 0) {
  std::vector<std::int32_t> segment;
  for (std::int32_t i = 0; i < kLength; ++i) segment.push_back(i / 5 + shift);
  return std::make_shared<const SentenceLabels>(labels_of_segments(std::move(segment)));
}

/// A text of which each token is its place.
TokenStream places(std::int64_t count) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0U);
  return TokenStream::from_ids(ids, 65536, 0);
}

ControlBatches batches_of(std::vector<ControlBatches::Cell> cells, const ContrastedRows& contrasted,
                          std::int64_t batch = 8) {
  return {places(kLength), Sampler(SamplerKind::Iid, kLength, kTokens, batch), std::move(cells),
          kKinds, contrasted};
}

void expect_rows_of(const Contrast& some, const Contrast& all, std::int64_t first) {
  const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
    return a.size(0) == b.size(0) && at::equal(a, b.narrow(1, first, a.size(1)));
  };
  EXPECT_TRUE(same(some.sentence, all.sentence)) << first;
  EXPECT_TRUE(same(some.label, all.label)) << first;
  EXPECT_TRUE(same(some.axis, all.axis)) << first;
  EXPECT_TRUE(same(some.wanted, all.wanted)) << first;
}

TEST(ContrastRows, AreTheFirstOfTheGlobalBatchHoweverItIsDivided) {
  const auto labels = some_labels();
  const ContrastedRows five{.rows = 5, .axes = {{0, 2}}};
  const ControlBatches batches = batches_of({{{}, labels, 1, 0}, {{}, labels, 2, 0}}, five);
  const Contrast whole = batches.batch(3, 0, 8).contrast;
  EXPECT_EQ(whole.sentence.sizes(), (at::IntArrayRef{2, 5, kTokens}));
  EXPECT_EQ(whole.label.sizes(), (at::IntArrayRef{2, 5, kTokens}));
  EXPECT_EQ(whole.axis.sizes(), (at::IntArrayRef{2, 5}));
  EXPECT_EQ(whole.wanted.sizes(), (at::IntArrayRef{2, 5}));
  for (const std::int64_t size : {1, 2, 4}) {
    for (std::int64_t first = 0; first < 8; first += size) {
      const Batch part = batches.batch(3, first, size);
      const std::int64_t rows = std::clamp<std::int64_t>(5 - first, 0, size);
      EXPECT_EQ(part.contrast.axis.defined(), rows > 0);
      if (rows == 0) {
        EXPECT_FALSE(part.contrast.sentence.defined() || part.contrast.label.defined());
        EXPECT_FALSE(part.contrast.wanted.defined());
        continue;
      }
      EXPECT_EQ(part.contrast.axis.size(1), rows);
      expect_rows_of(part.contrast, whole, first);
    }
  }
}

TEST(ContrastRows, ChangeNothingElseOfABatch) {
  const std::vector<ControlBatches::Cell> cells = {{{}, some_labels(), 1, 0}};
  const Batch plain = batches_of(cells, {}).batch(3, 0, 8);
  const Batch more = batches_of(cells, {.rows = 5, .axes = {{0, 2}}}).batch(3, 0, 8);
  EXPECT_FALSE(plain.contrast.axis.defined());
  EXPECT_TRUE(at::equal(plain.windows, more.windows));
  EXPECT_TRUE(at::equal(plain.control.u, more.control.u));
  const Contrast all = batches_of(cells, {.rows = 8, .axes = {{0, 2}}}).batch(3, 0, 8).contrast;
  expect_rows_of(more.contrast, all, 0);
}

/// Checks one row by the labels of its targets, whose places in the text follow `start`.
void expect_told(const SentenceLabels& labels, const Contrast& contrast, std::int64_t cell,
                 std::int64_t row, std::int64_t start) {
  const auto sentence = contrast.sentence[cell][row], label = contrast.label[cell][row];
  const auto axis = contrast.axis[cell][row].item<std::int64_t>();
  const auto segment = [&](std::int64_t t) {
    return labels.segment[static_cast<std::size_t>(start + 1 + t)];
  };
  EXPECT_EQ(sentence[0].item<std::int64_t>(), 0);
  std::vector<bool> used(kTokens, false);
  for (std::int64_t t = 0; t < kTokens; ++t) {
    const auto number = sentence[t].item<std::int64_t>();
    ASSERT_TRUE(number >= 0 && number < kTokens) << "sentence " << number << " of row " << row;
    used[static_cast<std::size_t>(number)] = true;
    EXPECT_EQ(label[number].item<float>(), flag_of(segment(t), axis)) << row << ", " << t;
    if (t == 0) continue;
    const auto before = sentence[t - 1].item<std::int64_t>();
    EXPECT_EQ(number == before, segment(t) == segment(t - 1)) << row << ", " << t;
    EXPECT_GE(number, before);
  }
  for (std::int64_t s = 0; s < kTokens; ++s) {
    if (used[static_cast<std::size_t>(s)]) continue;
    EXPECT_EQ(label[s].item<float>(), -1) << "row " << row << " has no sentence " << s;
  }
}

TEST(ContrastRows, HaveTheSentencesOfTheirTargetsWithTheLabelsOfTheirAxes) {
  const auto labels = some_labels();
  const ControlBatches batches =
      batches_of({{{}, labels, 1, 0}}, {.rows = 50, .axes = {{0, 1, 2}}}, 50);
  const Batch batch = batches.batch(7, 0, 50);
  for (std::int64_t r = 0; r < 50; ++r) {
    expect_told(*labels, batch.contrast, 0, r, batch.windows[0][r][0].item<std::int64_t>());
  }
  for (const float value : {-1.0F, 0.0F, 1.0F}) {
    EXPECT_TRUE(batch.contrast.label.eq(value).any().item<bool>()) << value;
  }
}

/// Of two line breaks in one token, the second is a segment that no token is in.
TEST(ContrastRows, CountSentencesWithoutThoseThatHaveNoToken) {
  std::vector<std::int32_t> segment;
  for (std::int32_t i = 0; i <= 2 * kTokens; ++i) {
    segment.push_back(2 * std::min<std::int32_t>(i, kTokens));
  }
  const auto labels =
      std::make_shared<const SentenceLabels>(labels_of_segments(std::move(segment)));
  // All windows of the text, one behind the other.
  const Sampler sampler(SamplerKind::Published1, 2 * kTokens + 1, kTokens, 2);
  const ControlBatches batches(places(2 * kTokens + 1), sampler, {{{}, labels, 1, 0}}, kKinds,
                               {.rows = 2, .axes = {{0}}});
  const Batch batch = batches.batch(1, 0, 2);
  ASSERT_EQ(batch.windows[0][1][0].item<std::int64_t>(), kTokens);
  expect_told(*labels, batch.contrast, 0, 0, 0);
  expect_told(*labels, batch.contrast, 0, 1, kTokens);
}

TEST(ContrastRows, AskAboutEachOfTheirAxesAndBothSignsAlikeOften) {
  const ControlBatches batches =
      batches_of({{{}, some_labels(), 9, 0}}, {.rows = 50, .axes = {{0, 2}}}, 50);
  constexpr int kDraws = 10'000;
  int first = 0, plus = 0, both = 0, neutral = 0, plus_of_neutral = 0, same = 0;
  at::Tensor before;
  for (std::int64_t step = 1; step <= kDraws / 50; ++step) {
    const Batch batch = batches.batch(step, 0, 50);
    const Contrast& contrast = batch.contrast;
    ASSERT_TRUE(contrast.axis.eq(0).logical_or(contrast.axis.eq(2)).all().item<bool>());
    ASSERT_TRUE(contrast.wanted.abs().eq(1).all().item<bool>());
    const at::Tensor zero = contrast.axis.eq(0), positive = contrast.wanted.gt(0);
    const at::Tensor silent = batch.control.u.eq(0).flatten(2).all(2);
    const auto count = [](const at::Tensor& flags) {
      return static_cast<int>(flags.sum().item<std::int64_t>());
    };
    first += count(zero);
    plus += count(positive);
    both += count(zero.logical_and(positive));
    neutral += count(silent);
    plus_of_neutral += count(silent.logical_and(positive));
    if (before.defined()) same += count(before.eq(positive));
    before = positive;
  }
  // Five standard deviations each.
  EXPECT_NEAR(first, kDraws / 2, 250);
  EXPECT_NEAR(plus, kDraws / 2, 250);
  EXPECT_NEAR(both, kDraws / 4, 217);
  EXPECT_NEAR(same, kDraws / 2, 275) << "of a row, from step to step";
  EXPECT_GT(neutral, 2000);
  EXPECT_NEAR(plus_of_neutral, neutral / 2.0, 2.5 * std::sqrt(neutral))
      << "whether a window is neutral does not tell what is asked of it";
}

TEST(ContrastRows, OfACellDoNotDependOnItsNeighbours) {
  const auto one = some_labels(), other = some_labels(1);
  const ContrastedRows four{.rows = 4, .axes = {{0, 1, 2}}};
  const ControlBatches two = batches_of({{{}, one, 1, 0}, {{}, other, 2, 40}}, four);
  const ControlBatches alone = batches_of({{{}, other, 2, 0}}, four);
  const Contrast both = two.batch(3, 0, 8).contrast, own = alone.batch(43, 0, 8).contrast;
  for (const auto& [a, b] :
       {std::pair(both.sentence, own.sentence), std::pair(both.label, own.label),
        std::pair(both.axis, own.axis), std::pair(both.wanted, own.wanted)}) {
    EXPECT_TRUE(at::equal(a.narrow(0, 1, 1), b)) << "40 steps were passed over";
  }
  const Batch batch = two.batch(3, 0, 8);
  for (std::int64_t r = 0; r < 4; ++r) {
    expect_told(*one, both, 0, r, batch.windows[0][r][0].item<std::int64_t>());
    expect_told(*other, both, 1, r, batch.windows[1][r][0].item<std::int64_t>());
  }
}

TEST(ContrastRows, AreAShareOfTheBatchIfATermHasAWeight) {
  const auto rows = [](const std::string& leaves) {
    return contrasted_rows(config_from_json(R"({"train.task":"control",)" + leaves + "}"));
  };
  EXPECT_EQ(contrasted_rows(CellConfig()), 0);
  EXPECT_EQ(rows(R"("train.batch_size":16)"), 0);
  EXPECT_EQ(rows(R"("train.batch_size":16,"train.control.contrastive_rows":1)"), 0);
  for (const std::string term : {"contrastive", "attribute", "anchor"}) {
    const std::string weight = R"("train.control.)" + term + R"(":0.1,)";
    EXPECT_EQ(rows(weight + R"("train.batch_size":16)"), 4) << term;
    EXPECT_EQ(rows(weight + R"("train.batch_size":9)"), 2) << term;
    EXPECT_EQ(rows(weight + R"("train.batch_size":11)"), 3) << term;
    EXPECT_EQ(rows(weight + R"("train.batch_size":1)"), 1) << "one at least";
  }
  const std::string weight = R"("train.control.anchor":2,"train.batch_size":10,)";
  EXPECT_EQ(rows(weight + R"("train.control.contrastive_rows":1)"), 10);
  EXPECT_EQ(rows(weight + R"("train.control.contrastive_rows":0.01)"), 1);
}

/// An axis may say nothing under the labels of one cell and something under those of another.
TEST(ContrastRows, OfACellAreOfItsOwnAxes) {
  const auto labels = some_labels();
  const std::vector<ControlBatches::Cell> two = {{{}, labels, 1, 0}, {{}, labels, 2, 0}};
  const Contrast both =
      batches_of(two, {.rows = 50, .axes = {{1}, {}}}, 50).batch(1, 0, 50).contrast;
  EXPECT_TRUE(both.axis[0].eq(1).all().item<bool>());
  EXPECT_TRUE(both.label[1].eq(-1).all().item<bool>()) << "nothing is asked";
  const Contrast other =
      batches_of(two, {.rows = 50, .axes = {{0, 2}, {}}}, 50).batch(1, 0, 50).contrast;
  EXPECT_TRUE(at::equal(other.label[1], both.label[1]));
  EXPECT_TRUE(at::equal(other.wanted[1], both.wanted[1]));
  EXPECT_FALSE(other.axis[0].eq(1).any().item<bool>());
}

}  // namespace contrast_rows_test
}  // namespace depthgrid
