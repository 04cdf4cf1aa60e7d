#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace depthgrid {

/// The lowest dev losses of each cell of a job so far, and how many evaluations ago they were.
class LowestLosses {
 public:
  explicit LowestLosses(std::size_t cells) : cells_(cells) {}

  enum class Verdict : std::uint8_t { Better, NotBetter, OutOfPatience };

  /// An evaluation of cell e. @param least  decrease needed to count as better.
  /// @param patience  evaluations without a better one that are allowed; none: any number.
  Verdict see(std::size_t e, std::int64_t step, double loss, double least,
              std::optional<std::int64_t> patience);

  /// NaN before the first one.
  double best(std::size_t e) const { return cells_.at(e).best; }
  /// Steps whose loss was the lowest so far, in order.
  const std::vector<std::int64_t>& improved(std::size_t e) const { return cells_.at(e).improved; }

 private:
  struct Cell {
    double best = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int64_t> improved = {};
    std::int64_t since = 0;  // evaluations since the best one
  };
  std::vector<Cell> cells_;
};

}  // namespace depthgrid
