#pragma once

#include <cstdint>
#include <span>

namespace depthgrid {

/// How the next token is drawn from logits.
struct TokenChoice {
  double temperature = 1;  // 0: the most probable token
  std::int64_t top_k = 0;  // keep the k most probable; 0: all
  double top_p = 1;        // keep the smallest set of most probable ones whose sum reaches p
};

/// Picks a token: temperature, then top_k, then top_p, then a draw among the rest, most probable
/// first. Ties go to the lower id. Deterministic given `draw`.
/// @param logits  (V). @throws Error if they are empty or not finite.
/// @param draw    uniform in [0, 1).
/// Source: Fan, Lewis & Dauphin (2018), ACL (top-k); Holtzman et al. (2020), ICLR, section 3.1
/// (top-p).
std::int64_t choose_token(std::span<const float> logits, const TokenChoice& choice, double draw);

}  // namespace depthgrid
