#include "core/data/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace sampler_test {

std::vector<std::int64_t> starts(const Sampler& sampler, std::uint64_t seed, std::int64_t step) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(sampler.batch()));
  sampler.starts(seed, step, 0, out);
  return out;
}

class AllSamplers : public testing::TestWithParam<SamplerKind> {};

TEST_P(AllSamplers, RowsDoNotDependOnHowTheBatchIsShared) {
  const Sampler sampler(GetParam(), 10'000, 32, 8);
  for (const std::int64_t step : {0, 1, 17, 4000}) {
    const auto whole = starts(sampler, 3, step);
    for (const std::int64_t ranks : {1, 2, 4, 8}) {
      std::vector<std::int64_t> parts;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::int64_t> part(static_cast<std::size_t>(8 / ranks));
        sampler.starts(3, step, rank * 8 / ranks, part);
        parts.insert(parts.end(), part.begin(), part.end());
      }
      EXPECT_EQ(parts, whole);
    }
  }
}

TEST_P(AllSamplers, EveryWindowHasItsTargetInsideTheStream) {
  for (const std::int64_t tokens : {257, 300, 1000}) {
    const Sampler sampler(GetParam(), tokens, 32, 8);
    for (std::int64_t step = 0; step < 200; ++step) {
      for (const std::int64_t start : starts(sampler, 1, step)) {
        ASSERT_GE(start, 0);
        ASSERT_LE(start + 32 + 1, tokens);
      }
    }
  }
}

TEST_P(AllSamplers, SeedsAndStepsDiffer) {
  const Sampler sampler(GetParam(), 1'000'000, 32, 8);
  EXPECT_NE(starts(sampler, 1, 0), starts(sampler, 2, 0));
  EXPECT_NE(starts(sampler, 1, 0), starts(sampler, 1, 1));
  EXPECT_NE(starts(sampler, 1, 0), starts(sampler, (std::uint64_t{1} << 32U) + 1, 0));
  EXPECT_EQ(starts(sampler, 1, 5), starts(sampler, 1, 5));
}

TEST_P(AllSamplers, RowsOutsideTheBatchAreABug) {
  const Sampler sampler(GetParam(), 10'000, 32, 8);
  std::vector<std::int64_t> out(4);
  EXPECT_THROW(sampler.starts(0, 0, 5, out), Error);
  EXPECT_THROW(sampler.starts(0, 0, -1, out), Error);
  EXPECT_THROW(sampler.starts(0, -1, 0, out), Error);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AllSamplers,
                         testing::Values(SamplerKind::Iid, SamplerKind::Epoch,
                                         SamplerKind::Published1, SamplerKind::Published2));

TEST(Sampler, IidStartsAreUniform) {
  const Sampler sampler(SamplerKind::Iid, 1000 + 32, 32, 50);
  std::vector<double> count(10);
  for (std::int64_t step = 0; step < 2000; ++step) {
    for (const std::int64_t start : starts(sampler, 7, step))
      ++count[static_cast<std::size_t>(start / 100)];
  }
  double chi2 = 0;
  for (const double c : count) chi2 += (c - 10'000) * (c - 10'000) / 10'000;
  EXPECT_LT(chi2, 27.9);  // 9 degrees of freedom, p = 0.001
}

TEST(Sampler, Published2IsIid) {
  const Sampler iid(SamplerKind::Iid, 5000, 64, 32);
  const Sampler published(SamplerKind::Published2, 5000, 64, 32);
  EXPECT_EQ(starts(iid, 9, 3), starts(published, 9, 3));
}

TEST(Sampler, AnEpochVisitsEveryWindowOnce) {
  for (const std::int64_t windows : {1, 2, 3, 5, 16, 17, 250}) {
    const Sampler sampler(SamplerKind::Epoch, windows * 10 + 4, 10, 1);
    std::vector<std::vector<std::int64_t>> epochs;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<std::int64_t> order;
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < windows; ++i) {
        order.push_back(starts(sampler, 5, epoch * windows + i)[0]);
        EXPECT_EQ(order.back() % 10, 0);
        seen.insert(order.back() / 10);
      }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), windows);
      EXPECT_EQ(*seen.rbegin(), windows - 1);
      epochs.push_back(order);
    }
    if (windows > 10) {
      EXPECT_NE(epochs[0], epochs[1]);
      EXPECT_FALSE(std::is_sorted(epochs[0].begin(), epochs[0].end()));
    }
  }
}

TEST(Sampler, AnEpochRunsOnFromOneBatchIntoTheNext) {
  const Sampler one(SamplerKind::Epoch, 1001, 10, 1);
  const Sampler eight(SamplerKind::Epoch, 1001, 10, 8);
  for (std::int64_t step = 0; step < 40; ++step) {
    const auto rows = starts(eight, 2, step);
    for (std::int64_t r = 0; r < 8; ++r) {
      EXPECT_EQ(rows[static_cast<std::size_t>(r)], starts(one, 2, step * 8 + r)[0]);
    }
  }
}

TEST(Sampler, EpochOrdersAreShuffledEvenly) {
  // Mean position of window 0 over many epochs, and no correlation of neighbours.
  const Sampler sampler(SamplerKind::Epoch, 101, 1, 100);
  double position = 0;
  double steps_up = 0;
  for (std::int64_t epoch = 0; epoch < 2000; ++epoch) {
    const auto order = starts(sampler, 11, epoch);
    position += static_cast<double>(std::find(order.begin(), order.end(), 0) - order.begin());
    steps_up += order[1] > order[0] ? 1 : 0;
  }
  EXPECT_NEAR(position / 2000, 49.5, 2.6);  // four standard errors
  EXPECT_NEAR(steps_up / 2000, 0.5, 0.045);
}

TEST(Sampler, Published1TakesConsecutiveWindowsAfterOneStart) {
  const Sampler sampler(SamplerKind::Published1, 5000, 16, 4);
  const auto rows = starts(sampler, 1, 2);
  for (std::size_t r = 1; r < 4; ++r)
    EXPECT_EQ(rows[r], rows[0] + 16 * static_cast<std::int64_t>(r));
}

TEST(Sampler, EpochsCountTokensDrawn) {
  EXPECT_DOUBLE_EQ(Sampler(SamplerKind::Iid, 1000, 10, 5).epochs(20), 1.0);
  EXPECT_DOUBLE_EQ(Sampler(SamplerKind::Epoch, 101, 10, 5).epochs(4), 2.0);
}

TEST(Sampler, ShortTextsAndUnknownWordsAreRefused) {
  EXPECT_THROW(Sampler(SamplerKind::Iid, 32, 32, 1), UserError);
  EXPECT_NO_THROW(Sampler(SamplerKind::Iid, 33, 32, 1));
  EXPECT_THROW(Sampler(SamplerKind::Epoch, 32, 32, 1), UserError);
  EXPECT_THROW(Sampler(SamplerKind::Published1, 64, 32, 2), UserError);
  EXPECT_NO_THROW(Sampler(SamplerKind::Published1, 65, 32, 2));
  EXPECT_EQ(sampler_kind("published_1"), SamplerKind::Published1);
  EXPECT_THROW(sampler_kind("shuffled"), UserError);
}

TEST(Sampler, TheOrderDigestTellsBatchStreamsApart) {
  const Sampler sampler(SamplerKind::Iid, 5000, 64, 8);
  const std::string digest = data_order_digest(sampler, 1, 50, "tokens");
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(digest, data_order_digest(Sampler(SamplerKind::Iid, 5000, 64, 8), 1, 50, "tokens"));
  EXPECT_NE(digest, data_order_digest(sampler, 2, 50, "tokens"));
  EXPECT_NE(digest, data_order_digest(sampler, 1, 51, "tokens"));
  EXPECT_NE(digest, data_order_digest(sampler, 1, 50, "other tokens"));
  EXPECT_NE(digest, data_order_digest(sampler, 1, 50, "tokens", 50));
}

TEST(Sampler, TheOrderDigestOfEarlierStoresIsUnchanged) {
  EXPECT_EQ(data_order_digest(Sampler(SamplerKind::Iid, 5000, 64, 8), 1, 50, "tokens"),
            "b72390fbe62df4bd");
  EXPECT_EQ(data_order_digest(Sampler(SamplerKind::Epoch, 50000, 64, 64), 7, 1024, "tokens"),
            "9d450cafc4051a95");
}

TEST(Sampler, TheOrderDigestOfAVeryLongTrainingIsOfItsKey) {
  // Drawing and hashing all would be 8 TB.
  constexpr std::int64_t kSteps = 2'000'000'000, kBatch = 512;
  const auto of = [](SamplerKind kind, std::int64_t batch, std::uint64_t seed, std::int64_t steps) {
    return data_order_digest(Sampler(kind, 5'000'000, 64, batch), seed, steps, "tokens");
  };
  const std::string digest = of(SamplerKind::Iid, kBatch, 1, kSteps);
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(digest.front(), 's') << "never equal to one of all starts";
  EXPECT_EQ(digest, of(SamplerKind::Published2, kBatch, 1, kSteps)) << "they draw alike";
  EXPECT_NE(digest, of(SamplerKind::Epoch, kBatch, 1, kSteps));
  EXPECT_NE(digest, of(SamplerKind::Iid, kBatch / 2, 1, kSteps));
  EXPECT_NE(digest, of(SamplerKind::Iid, kBatch, 2, kSteps));
  EXPECT_NE(digest, of(SamplerKind::Iid, kBatch, 1, kSteps - 1));
}

}  // namespace sampler_test
}  // namespace depthgrid
