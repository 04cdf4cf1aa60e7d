#include "core/data/markov_chain.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace markov_chain_test {

std::int64_t states(std::int64_t order, std::int64_t vocab) {
  return order == 0 ? 1 : vocab * states(order - 1, vocab);
}

/// sum_s pi(s) H(P(. | s)), with pi by iterating the lazy chain from the uniform distribution.
double entropy_rate_by_iteration(const MarkovChain& chain, std::int64_t order, std::int64_t vocab) {
  const std::int64_t n = states(order, vocab);
  std::vector<double> pi(static_cast<std::size_t>(n), 1 / static_cast<double>(n));
  double change = 1;
  while (change > 1e-13) {
    std::vector<double> next(pi.size());
    for (std::int64_t s = 0; s < n; ++s) {
      const double half = pi[static_cast<std::size_t>(s)] / 2;
      next[static_cast<std::size_t>(s)] += half;
      for (std::int64_t x = 0; x < vocab; ++x) {
        next[static_cast<std::size_t>((s * vocab + x) % n)] +=
            half * chain.row(s)[static_cast<std::size_t>(x)];
      }
    }
    change = 0;
    for (std::size_t s = 0; s < pi.size(); ++s) change += std::abs(next[s] - pi[s]);
    pi = next;
  }
  double rate = 0;
  for (std::int64_t s = 0; s < n; ++s) {
    for (const double p : chain.row(s)) {
      if (p > 0) rate -= pi[static_cast<std::size_t>(s)] * p * std::log(p);
    }
  }
  return rate;
}

TEST(MarkovChain, TwoStatesHaveTheTextbookEntropyRate) {
  const MarkovChain chain(1, 2, 0.5);
  const double a = chain.row(0)[1];  // leaves state 0
  const double b = chain.row(1)[0];
  const auto h = [](double p) { return -p * std::log(p) - (1 - p) * std::log1p(-p); };
  EXPECT_NEAR(chain.entropy_rate(), (b * h(a) + a * h(b)) / (a + b), 1e-14);
}

TEST(MarkovChain, UniformRowsHaveTheLogarithmOfV) {
  for (const std::int64_t order : {0, 1, 2}) {
    EXPECT_NEAR(MarkovChain(order, 8, std::nullopt).entropy_rate(), std::log(8.0), 1e-12);
  }
}

TEST(MarkovChain, RowsAreDistributionsAndTheirEntropyIsWeightedByTheStationaryOne) {
  for (const std::int64_t order : {0, 1, 2, 3}) {
    const MarkovChain chain(order, 6, 0.5);
    for (std::int64_t s = 0; s < states(order, 6); ++s) {
      const auto row = chain.row(s);
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
    }
    EXPECT_NEAR(chain.entropy_rate(), entropy_rate_by_iteration(chain, order, 6), 1e-10) << order;
  }
}

TEST(MarkovChain, MoreStatesThanAreEliminatedAreSolvedByIteration) {
  const MarkovChain chain(2, 50, 0.5);  // 2500 states
  EXPECT_NEAR(chain.entropy_rate(), entropy_rate_by_iteration(chain, 2, 50), 1e-10);
}

TEST(MarkovChain, RowsHaveTheMomentsOfTheDirichletDistribution) {
  // Variance of a component: (1/V)(1 - 1/V) / (V alpha + 1).
  for (const double alpha : {0.1, 2.0}) {
    const MarkovChain chain(1, 32, alpha);
    double square = 0;
    for (std::int64_t s = 0; s < 32; ++s) {
      for (const double p : chain.row(s)) square += (p - 1.0 / 32) * (p - 1.0 / 32);
    }
    const double expected = (1.0 / 32) * (31.0 / 32) / (32 * alpha + 1);
    EXPECT_NEAR(square / (32 * 32) / expected, 1, 0.2) << alpha;
  }
}

TEST(MarkovChain, AStreamReachesTheEntropyRate) {
  for (const std::int64_t order : {0, 1, 2}) {
    const MarkovChain chain(order, 8, 0.5);
    const auto ids = chain.draw(400'000, "test");
    double nats = 0;
    std::int64_t state = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i >= static_cast<std::size_t>(order)) nats -= std::log(chain.row(state)[ids[i]]);
      state = (state * 8 + ids[i]) % states(order, 8);
    }
    EXPECT_NEAR(nats / static_cast<double>(ids.size()), chain.entropy_rate(), 0.01) << order;
  }
}

TEST(MarkovChain, TheSameKeyAndStreamGiveTheSameTokens) {
  const MarkovChain chain(1, 64, 0.1);
  EXPECT_EQ(chain.draw(1000, "a"), MarkovChain(1, 64, 0.1).draw(1000, "a"));
  EXPECT_NE(chain.draw(1000, "a"), chain.draw(1000, "b"));
  EXPECT_NE(chain.entropy_rate(), MarkovChain(1, 64, 0.1, 1).entropy_rate());
}

TEST(MarkovChain, TooManyStatesAreRefused) {
  EXPECT_THROW(MarkovChain(4, 17, 0.1), UserError);     // 17^4 > 65536
  EXPECT_THROW(MarkovChain(1, 65536, 0.1), UserError);  // 2^32 probabilities
  EXPECT_NO_THROW(MarkovChain(0, 100'000, 0.1));
}

}  // namespace markov_chain_test
}  // namespace depthgrid
