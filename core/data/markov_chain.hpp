#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A stationary Markov chain of order k over V symbols whose entropy rate is known exactly.
///
/// The V^k transition rows are independent draws from a symmetric Dirichlet distribution (or
/// uniform). Entropy rate h = sum_s pi(s) H(P(. | s)), pi the stationary distribution.
/// Source: Cover & Thomas (2006), Elements of Information Theory, eq. 4.27; pi by Grassmann, Taksar
/// & Heyman (1985), Operations Research 33, 1107 (no subtraction), or by iteration for many states.
class MarkovChain {
 public:
  /// @param order          0 = independent draws.
  /// @param concentration  of the Dirichlet distribution; none = every symbol equally likely.
  /// @param key            of the random numbers: equal keys give equal chains.
  /// @throws UserError if V^order > 65536 or V^(order + 1) > 2^24, or if the chain is so close to
  ///         reducible that pi cannot be computed; Error if order < 0 or V < 2.
  MarkovChain(std::int64_t order, std::int64_t vocab_size, std::optional<double> concentration,
              std::uint64_t key = 0);

  /// Nats per token.
  double entropy_rate() const noexcept { return entropy_rate_; }

  /// (V) probabilities of the next symbol. The last `order` symbols are the base-V digits of
  /// `state`, the newest one last.
  std::span<const double> row(std::int64_t state) const;

  /// A stationary sequence of symbols. @param stream  names its random numbers.
  std::vector<std::uint32_t> draw(std::int64_t tokens, std::string_view stream) const;

 private:
  void draw_rows(std::optional<double> concentration);
  void solve_stationary();
  void eliminate();
  void iterate();

  std::int64_t order_;
  std::int64_t vocab_size_;
  std::int64_t states_ = 1;
  std::uint64_t key_;
  std::vector<double> rows_;  // (states, V)
  std::vector<double> stationary_;
  double entropy_rate_ = 0;
};

}  // namespace depthgrid
