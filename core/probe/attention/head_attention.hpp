#pragma once

#include <cstdint>
#include <span>

namespace depthgrid {

/// Where the queries of one head look in one sequence. Means over the queries i = 1 ... T - 1; the
/// first token has only itself to look at. NaN if there is no other.
struct HeadAttention {
  double entropy = 0;      // -sum p ln p over ln(i + 1): 1 if uniform, 0 if on one token
  double distance = 0;     // sum of p (i - j), tokens
  double first_share = 0;  // p of token 0
  double self_share = 0;   // p of the token itself
};

/// @param weights  (T, T) row-major; of row i the entries 0 ... i, which sum to 1, are read.
/// Sums are float64 and in the order of the text.
HeadAttention head_attention(std::span<const float> weights, std::int64_t tokens);

}  // namespace depthgrid
