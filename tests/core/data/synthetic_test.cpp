#include "core/data/synthetic.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace synthetic_test {

SyntheticOptions options(std::int64_t vocab, std::int64_t lag, std::int64_t tokens = 10'000) {
  SyntheticOptions made;
  made.vocab_size = vocab;
  made.lag = lag;
  made.tokens = tokens;
  return made;
}

TEST(Synthetic, CopyRepeatsEachBlockOnce) {
  const SyntheticData data = draw_synthetic("synthetic:copy", options(64, 5, 1000));
  const auto& ids = data.train;
  for (std::size_t i = 0; i + 5 < ids.size(); ++i) {
    if (i % 10 < 5) {
      EXPECT_EQ(ids[i], ids[i + 5]) << i;
    }
  }
  EXPECT_NEAR(data.entropy_rate, std::log(64.0) / 2, 1e-15);
}

TEST(Synthetic, CopyBlocksAreFreshAndUniform) {
  const auto ids = draw_synthetic("synthetic:copy", options(4, 10, 200'000)).train;
  std::vector<double> count(4);
  std::size_t repeats = 0;
  for (std::size_t i = 0; i + 10 < ids.size(); ++i) {
    ++count[ids[i]];
    if (i % 20 >= 10) repeats += ids[i] == ids[i + 10] ? 1 : 0;  // one block to the next
  }
  for (const double c : count) EXPECT_NEAR(c / 200'000, 0.25, 0.01);
  EXPECT_NEAR(static_cast<double>(repeats) / 100'000, 0.25, 0.01);
}

TEST(Synthetic, InductionRepeatsTheValueOfAKeySeenWithinTheLag) {
  const SyntheticData data = draw_synthetic("synthetic:induction", options(16, 12, 50'000));
  const auto& ids = data.train;
  std::vector<std::int64_t> last(8, -1);
  std::int64_t fresh = 0;
  for (std::int64_t i = 0; i + 1 < 50'000; i += 2) {
    const std::uint32_t key = ids[static_cast<std::size_t>(i)];
    const std::uint32_t value = ids[static_cast<std::size_t>(i) + 1];
    ASSERT_LT(key, 8U);
    ASSERT_GE(value, 8U);
    ASSERT_LT(value, 16U);
    if (last[key] >= 0 && i - last[key] <= 12) {
      ASSERT_EQ(value, ids[static_cast<std::size_t>(last[key]) + 1]) << i;
    } else {
      ++fresh;
    }
    last[key] = i;
  }
  // The share of fresh values is what the entropy rate is computed from.
  const double share = std::pow(7.0 / 8, 6);
  EXPECT_NEAR(static_cast<double>(fresh) / 25'000, share, 0.02);
  EXPECT_NEAR(data.entropy_rate, (std::log(8.0) + share * std::log(8.0)) / 2, 1e-14);
}

TEST(Synthetic, HeldOutStreamsAreTheirOwnDraws) {
  for (const char* const corpus : {"synthetic:markov", "synthetic:copy", "synthetic:induction"}) {
    const SyntheticData data = draw_synthetic(corpus, options(16, 4));
    EXPECT_EQ(data.train.size(), 10'000U);
    EXPECT_EQ(data.dev.size(), 500U);
    EXPECT_EQ(data.valid.size(), 500U);
    EXPECT_NE(data.dev, data.valid);
    EXPECT_FALSE(std::equal(data.dev.begin(), data.dev.end(), data.train.begin())) << corpus;
    EXPECT_GT(data.entropy_rate, 0);
    EXPECT_LT(data.entropy_rate, std::log(16.0));
  }
}

TEST(Synthetic, UnknownSourcesAndImpossibleNumbersAreRefused) {
  EXPECT_THROW(draw_synthetic("synthetic:noise", options(16, 4)), UserError);
  EXPECT_THROW(draw_synthetic("synthetic:copy", options(1, 4)), UserError);
}

}  // namespace synthetic_test
}  // namespace depthgrid
