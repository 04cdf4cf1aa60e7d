#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace depthgrid {

/// Windows over which a split is evaluated, and which of their predictions count.
///
/// Window i has inputs start .. start + length - 1 and targets one token later; its positions
/// first_counted .. length - 1 count. Only the last window may be shorter than T.
struct EvalWindows {
  std::vector<std::int64_t> starts, lengths, first_counted;
  std::int64_t seq_len = 0;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(starts.size()); }
  bool operator==(const EvalWindows&) const = default;
};

/// All windows of a stream: every token but the first is the target of exactly one counted
/// position.
///
/// With stride S < T (sliding evaluation), only the last S positions of each window after the first
/// count; the last window is moved back to end with the stream.
/// @param tokens   length of the stream; fewer than two give no window.
/// @param seq_len  T.
/// @param stride   1 .. T; none = T: no overlap, last window possibly partial.
/// @throws Error if seq_len or stride is out of range.
EvalWindows all_windows(std::int64_t tokens, std::int64_t seq_len,
                        std::optional<std::int64_t> stride = {});

/// `n` evenly spaced windows of the M in `all`: those at floor((2i + 1) M / (2n)); all if n >= M.
/// @throws Error if n < 1.
EvalWindows spaced_windows(const EvalWindows& all, std::int64_t n);

/// `n` windows with uniformly drawn starts, as in the first study's evaluation (n = 80).
/// @param seed, evaluation  key of the draw: the k-th evaluation of a run has its own windows.
/// @throws Error if the stream has no full window.
EvalWindows random_windows(std::int64_t tokens, std::int64_t seq_len, std::uint64_t seed,
                           std::int64_t evaluation, std::int64_t n = 80);

}  // namespace depthgrid
