#include "core/data/tokenizers/byte_pairs.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace depthgrid {
namespace byte_pairs_test {

using Ids = std::vector<std::uint32_t>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// A list of merges, in the program's form and as plain as it can be.
struct Listed {
  BytePairs fast;
  std::map<Pair, std::pair<std::size_t, std::uint32_t>> plain;  // rank, id
  std::size_t count = 0;

  void add(std::uint32_t left, std::uint32_t right, std::uint32_t both) {
    fast.add(left, right, both);
    plain[{left, right}] = {count++, both};
  }
};

/// The loop of the released encoder.py: the lowest pair, at all its places from the left.
/// Quadratic.
Ids merged_plainly(Ids ids, const Listed& listed) {
  while (true) {
    auto best = listed.plain.end();
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = listed.plain.find({ids[i], ids[i + 1]});
      if (found == listed.plain.end()) continue;
      if (best == listed.plain.end() || found->second.first < best->second.first) best = found;
    }
    if (best == listed.plain.end()) return ids;
    Ids out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool both = i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == best->first;
      out.push_back(both ? best->second.second : ids[i]);
      i += both ? 1 : 0;
    }
    ids = std::move(out);
  }
}

Ids merged(Ids ids, const Listed& listed) {
  listed.fast.merge(ids);
  return ids;
}

/// Merges of tokens that exist already, as training makes them. Some tokens are made in two ways,
/// and some pairs are listed before one of the ways to make their tokens, or twice.
Listed random_list(std::mt19937& random, std::uint32_t letters, std::uint32_t merges) {
  Listed listed;
  std::uint32_t tokens = letters;
  for (std::uint32_t i = 0; i < merges; ++i) {
    const std::uint32_t left = random() % tokens;
    const std::uint32_t right = random() % tokens;
    const std::uint32_t least = std::max({left, right, letters - 1}) + 1;
    const bool again = least < tokens && random() % 3 == 0;
    listed.add(left, right, again ? least + random() % (tokens - least) : tokens++);
  }
  return listed;
}

TEST(BytePairs, EqualTheQuadraticLoopOnRandomListsAndPieces) {
  std::mt19937 random(20261127);
  std::size_t changed = 0;
  for (int list = 0; list < 300; ++list) {
    const std::uint32_t letters = 1 + random() % 4;
    const Listed listed = random_list(random, letters, 1 + random() % 30);
    for (int piece = 0; piece < 20; ++piece) {
      Ids ids(random() % 60);
      for (std::uint32_t& id : ids) id = random() % letters;
      const Ids expected = merged_plainly(ids, listed);
      ASSERT_EQ(merged(ids, listed), expected) << "list " << list << ", piece " << piece;
      changed += ids != expected ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 3000U);  // or the test would show little
}

TEST(BytePairs, TakeTheFirstListedPairAndThenTheLeftmostPlace) {
  Listed listed;
  listed.add(1, 2, 10);
  listed.add(1, 1, 11);
  EXPECT_EQ(merged({1, 1, 2}, listed), (Ids{1, 10}));
  EXPECT_EQ(merged({1, 1, 1}, listed), (Ids{11, 1}));
  EXPECT_EQ(merged({}, listed), Ids{});
  EXPECT_EQ(merged({1}, listed), Ids{1});
}

/// One of these lists makes token 3 in two ways, so that a pair of it comes before its second way.
TEST(BytePairs, MergeAllPlacesOfAPairBeforeAnotherOne) {
  Listed listed;
  listed.add(3, 1, 4);
  listed.add(1, 2, 3);
  EXPECT_EQ(merged({1, 2, 1, 2}, listed), (Ids{3, 3}));  // not 4, 2
}

TEST(BytePairs, APairThatIsListedTwiceCountsWhereItStandsLast) {
  Listed listed;
  listed.add(1, 2, 10);
  listed.add(2, 3, 11);
  listed.add(1, 2, 10);
  EXPECT_EQ(merged({1, 2, 3}, listed), (Ids{1, 11}));
}

/// Counts work, not seconds: at most three pairs per id are looked up, however long the piece.
TEST(BytePairs, TheWorkGrowsWithTheLengthOfThePiece) {
  Listed doubling;  // a run of one letter, halved again and again
  for (std::uint32_t i = 0; i < 16; ++i) doubling.add(i, i, i + 1);
  Listed growing;  // one token that takes its neighbour, again and again
  growing.add(0, 1, 2);
  for (std::uint32_t i = 2; i < 5000; ++i) growing.add(i, 1, i + 1);
  for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
    Ids run(n, 0);
    EXPECT_LE(doubling.fast.merge(run), 3 * n);
    EXPECT_LE(run.size(), n / 65536 + 16);
    Ids tail(n, 1);
    tail[0] = 0;
    EXPECT_LE(growing.fast.merge(tail), 3 * n);
    EXPECT_EQ(tail.size(), n <= 5000 ? 1 : n - 4999);
  }
}

}  // namespace byte_pairs_test
}  // namespace depthgrid
