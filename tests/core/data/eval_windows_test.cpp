#include "core/data/eval_windows.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace eval_windows_test {

/// How often each token of the stream is a counted target.
std::vector<int> target_counts(const EvalWindows& windows, std::int64_t tokens) {
  std::vector<int> count(static_cast<std::size_t>(tokens));
  for (std::size_t w = 0; w < windows.starts.size(); ++w) {
    for (std::int64_t i = windows.first_counted[w]; i < windows.lengths[w]; ++i) {
      ++count.at(static_cast<std::size_t>(windows.starts[w] + i + 1));
    }
  }
  return count;
}

std::int64_t counted(const EvalWindows& windows) {
  const auto sum = [](const auto& v) {
    return std::accumulate(v.begin(), v.end(), std::int64_t{0});
  };
  return sum(windows.lengths) - sum(windows.first_counted);
}

TEST(EvalWindows, EveryTokenButTheFirstIsATargetExactlyOnce) {
  for (const std::int64_t seq_len : {1, 2, 7, 16}) {
    for (std::int64_t stride = 1; stride <= seq_len; ++stride) {
      for (std::int64_t tokens = 2; tokens < 60; ++tokens) {
        const EvalWindows windows = all_windows(tokens, seq_len, stride);
        std::vector<int> expected(static_cast<std::size_t>(tokens), 1);
        expected[0] = 0;
        ASSERT_EQ(target_counts(windows, tokens), expected)
            << "T " << seq_len << " stride " << stride << " N " << tokens;
        for (std::size_t w = 0; w < windows.starts.size(); ++w) {
          ASSERT_LE(windows.lengths[w], seq_len);
          ASSERT_GE(windows.starts[w], 0);
          if (w + 1 < windows.starts.size()) {
            ASSERT_EQ(windows.lengths[w], seq_len);
          }
        }
      }
    }
  }
}

TEST(EvalWindows, TheLastPartialWindowIsIncluded) {
  const EvalWindows windows = all_windows(24, 10);
  EXPECT_EQ(windows.starts, (std::vector<std::int64_t>{0, 10, 20}));
  EXPECT_EQ(windows.lengths, (std::vector<std::int64_t>{10, 10, 3}));
  EXPECT_EQ(windows.first_counted, (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(all_windows(21, 10).size(), 2);
  EXPECT_EQ(all_windows(1, 10).size(), 0);
  EXPECT_EQ(all_windows(0, 10).size(), 0);
}

TEST(EvalWindows, SlidingCountsOnlyTheLastPositionsAfterTheFirstWindow) {
  const EvalWindows windows = all_windows(18, 8, 4);
  EXPECT_EQ(windows.starts, (std::vector<std::int64_t>{0, 4, 8, 9}));
  EXPECT_EQ(windows.first_counted, (std::vector<std::int64_t>{0, 4, 4, 7}));
  EXPECT_EQ(windows.lengths, (std::vector<std::int64_t>{8, 8, 8, 8}));
}

TEST(EvalWindows, ASubsetIsSpreadEvenlyOverTheSplit) {
  const EvalWindows all = all_windows(1001, 10);
  const EvalWindows some = spaced_windows(all, 4);
  EXPECT_EQ(some.starts, (std::vector<std::int64_t>{120, 370, 620, 870}));
  EXPECT_EQ(counted(some), 40);
  EXPECT_EQ(some.seq_len, 10);
  EXPECT_EQ(spaced_windows(all, 100).starts, all.starts);
  EXPECT_EQ(spaced_windows(all, 1000).starts, all.starts);
  EXPECT_THROW(spaced_windows(all, 0), Error);
}

TEST(EvalWindows, SubsetsNeverRepeatAWindow) {
  const EvalWindows all = all_windows(108, 10);
  for (std::int64_t n = 1; n <= all.size(); ++n) {
    const EvalWindows some = spaced_windows(all, n);
    ASSERT_EQ(some.size(), n);
    for (std::size_t i = 1; i < some.starts.size(); ++i)
      ASSERT_GT(some.starts[i], some.starts[i - 1]);
  }
}

TEST(EvalWindows, RandomWindowsAreAFunctionOfSeedAndEvaluation) {
  const EvalWindows first = random_windows(10'000, 64, 3, 0);
  EXPECT_EQ(first.size(), 80);
  EXPECT_EQ(counted(first), 80 * 64);
  EXPECT_EQ(first.starts, random_windows(10'000, 64, 3, 0).starts);
  EXPECT_NE(first.starts, random_windows(10'000, 64, 3, 1).starts);
  EXPECT_NE(first.starts, random_windows(10'000, 64, 4, 0).starts);
  for (const std::int64_t start : random_windows(66, 64, 3, 0).starts) {
    EXPECT_GE(start, 0);
    EXPECT_LE(start + 65, 66);
  }
  EXPECT_THROW(random_windows(64, 64, 0, 0), Error);
}

TEST(EvalWindows, AStrideOutsideTheWindowIsABug) {
  EXPECT_THROW(all_windows(100, 10, 11), Error);
  EXPECT_THROW(all_windows(100, 10, 0), Error);
}

}  // namespace eval_windows_test
}  // namespace depthgrid
