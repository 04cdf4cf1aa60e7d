#include "core/data/markov_chain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMaxStates = 65536;
constexpr std::int64_t kMaxEntries = std::int64_t{1} << 24U;  // 128 MiB of probabilities
constexpr std::int64_t kMaxEliminated = 2048;                 // states; the work grows as its cube
constexpr double kMaxIterated = 2e9;                          // multiplications
constexpr double kConverged = 1e-14;                          // change of pi in one iteration

/// Logarithm of a gamma variate; the variate itself would underflow for small shapes.
/// Source: Marsaglia & Tsang (2000), ACM Trans. Math. Softw. 26, 363; shapes below 1: section 6.
double log_gamma_draw(double shape, const RandomWords& random, std::uint32_t column,
                      std::uint32_t row) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto words = random.words(attempt, column, row);
    const auto open = [&](std::size_t i) { return (words[i] + 0.5) * 0x1p-32; };  // (0, 1)
    const double normal =
        std::sqrt(-2 * std::log(open(0))) * std::cos(2 * std::numbers::pi * open(1));
    const double v = std::pow(1 + c * normal, 3);
    if (v <= 0 || std::log(open(2)) >= normal * normal / 2 + d - d * v + d * std::log(v)) continue;
    return std::log(d * v) + (shape < 1 ? std::log(open(3)) / shape : 0.0);
  }
}

double entropy(std::span<const double> p) {
  double h = 0;
  for (const double x : p) h -= x > 0 ? x * std::log(x) : 0;
  return h;
}

[[noreturn]] void falls_apart() {
  throw UserError(ExitCode::Usage,
                  "data.synthetic.concentration: so small that the chain nearly falls apart and "
                  "its entropy rate cannot be computed; use a larger one, or fewer states "
                  "(data.synthetic.order, data.synthetic.vocab_size)");
}

}  // namespace

MarkovChain::MarkovChain(std::int64_t order, std::int64_t vocab_size,
                         std::optional<double> concentration, std::uint64_t key)
    : order_(order), vocab_size_(vocab_size), key_(key) {
  if (order < 0 || vocab_size < 2) throw Error("a chain has order >= 0 and two symbols or more");
  for (std::int64_t i = 0; i < order; ++i) {
    states_ *= vocab_size;
    if (states_ > kMaxStates || states_ * vocab_size > kMaxEntries) {
      throw UserError(
          ExitCode::Usage,
          fmt::format("data.synthetic: V = {} with order = {} is too large; V^order may be {} and "
                      "V^(order + 1) {} at most: use a smaller vocab_size or order",
                      vocab_size, order, kMaxStates, kMaxEntries));
    }
  }
  draw_rows(concentration);
  solve_stationary();
  for (std::int64_t s = 0; s < states_; ++s) {
    entropy_rate_ += stationary_[static_cast<std::size_t>(s)] * entropy(row(s));
  }
}

std::span<const double> MarkovChain::row(std::int64_t state) const {
  return {rows_.data() + state * vocab_size_, static_cast<std::size_t>(vocab_size_)};
}

void MarkovChain::draw_rows(std::optional<double> concentration) {
  const auto entries = static_cast<std::size_t>(states_ * vocab_size_);
  rows_.assign(entries, 1 / static_cast<double>(vocab_size_));
  if (!concentration) return;
  const RandomWords random(key_, "data/markov/rows");
  for (std::int64_t s = 0; s < states_; ++s) {
    const std::span<double> p(rows_.data() + s * vocab_size_,
                              static_cast<std::size_t>(vocab_size_));
    for (std::size_t v = 0; v < p.size(); ++v) {
      p[v] = log_gamma_draw(*concentration, random, static_cast<std::uint32_t>(v),
                            static_cast<std::uint32_t>(s));
    }
    const double greatest = *std::max_element(p.begin(), p.end());
    for (double& x : p) x = std::exp(x - greatest);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
  }
}

void MarkovChain::solve_stationary() {
  stationary_.assign(static_cast<std::size_t>(states_), 1 / static_cast<double>(states_));
  if (states_ == 1) return;
  if (states_ <= kMaxEliminated) {
    eliminate();
  } else {
    iterate();
  }
}

void MarkovChain::eliminate() {
  const auto n = static_cast<std::size_t>(states_);
  const auto v = static_cast<std::size_t>(vocab_size_);
  std::vector<double> a(n * n);
  for (std::size_t s = 0; s < n; ++s) {
    for (std::size_t x = 0; x < v; ++x) a[s * n + (s * v + x) % n] += rows_[s * v + x];
  }
  for (std::size_t k = n - 1; k > 0; --k) {
    const double* const out = &a[k * n];
    const double sum = std::accumulate(out, out + k, 0.0);
    if (!(sum > 0)) falls_apart();
    for (std::size_t i = 0; i < k; ++i) {
      double* const in = &a[i * n];
      in[k] /= sum;
      for (std::size_t j = 0; j < k; ++j) in[j] += in[k] * out[j];
    }
  }
  stationary_[0] = 1;
  for (std::size_t k = 1; k < n; ++k) {
    stationary_[k] = 0;
    for (std::size_t i = 0; i < k; ++i) stationary_[k] += stationary_[i] * a[i * n + k];
  }
  const double sum = std::accumulate(stationary_.begin(), stationary_.end(), 0.0);
  if (!std::isfinite(sum)) falls_apart();
  for (double& p : stationary_) p /= sum;
}

void MarkovChain::iterate() {
  const auto n = static_cast<std::size_t>(states_);
  const auto v = static_cast<std::size_t>(vocab_size_);
  std::vector<double> next(n);
  for (double work = 0; work < kMaxIterated; work += static_cast<double>(n * v)) {
    // Lazy chain: (1 + P) / 2 has the same pi and does not oscillate.
    for (std::size_t s = 0; s < n; ++s) next[s] = stationary_[s] / 2;
    for (std::size_t s = 0; s < n; ++s) {
      const double half = stationary_[s] / 2;
      double* const to = &next[s * v % n];  // the v successors of a state lie side by side
      for (std::size_t x = 0; x < v; ++x) to[x] += half * rows_[s * v + x];
    }
    const double sum = std::accumulate(next.begin(), next.end(), 0.0);
    double change = 0;
    for (std::size_t s = 0; s < n; ++s) {
      next[s] /= sum;
      change += std::abs(next[s] - stationary_[s]);
    }
    stationary_.swap(next);
    if (change < kConverged) return;
  }
  falls_apart();
}

std::vector<std::uint32_t> MarkovChain::draw(std::int64_t tokens, std::string_view stream) const {
  const auto cumulate = [](std::span<const double> p, double* out) {
    std::partial_sum(p.begin(), p.end(), out);
    const double sum = out[p.size() - 1];
    for (std::size_t i = 0; i < p.size(); ++i) out[i] /= sum;  // ends with exactly 1
  };
  const auto pick = [](std::span<const double> cumulative, double u) {
    return std::upper_bound(cumulative.begin(), cumulative.end(), u) - cumulative.begin();
  };
  const auto v = static_cast<std::size_t>(vocab_size_);
  std::vector<double> cumulative(rows_.size());
  for (std::int64_t s = 0; s < states_; ++s)
    cumulate(row(s), &cumulative[v * static_cast<std::size_t>(s)]);
  std::vector<double> start(stationary_.size());
  cumulate(stationary_, start.data());

  const RandomWords random(key_, stream);
  std::int64_t state = pick(start, random.unit(0, 0, 1));
  std::vector<std::uint32_t> ids;
  ids.reserve(static_cast<std::size_t>(tokens));
  // The first symbols are those of the initial state, the oldest first.
  for (std::int64_t place = states_ / vocab_size_; order_ > 0 && place > 0; place /= vocab_size_) {
    ids.push_back(static_cast<std::uint32_t>(state / place % vocab_size_));
  }
  ids.resize(std::min<std::size_t>(ids.size(), static_cast<std::size_t>(tokens)));
  for (std::int64_t i = static_cast<std::int64_t>(ids.size()); i < tokens; ++i) {
    const double u =
        random.unit(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U), 0);
    const std::span<const double> p(&cumulative[v * static_cast<std::size_t>(state)], v);
    const std::int64_t symbol = pick(p, u);
    ids.push_back(static_cast<std::uint32_t>(symbol));
    state = (state * vocab_size_ + symbol) % states_;
  }
  return ids;
}

}  // namespace depthgrid
