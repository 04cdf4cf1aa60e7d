#pragma once

#include <cstdint>
#include <span>

namespace depthgrid {

/// How the next token is drawn from logits.
struct TokenChoice {
  double temperature = 1;  // 0: the most probable token
  std::int64_t top_k = 0;  // only the k most probable; 0: all
  double top_p = 1;        // only the fewest most probable whose probabilities sum to p
};

/// Picks a token: temperature, then top_k, then top_p, then the draw among those that are left, the
/// most probable first. Equal logits go by the lower id. Deterministic: `draw` is the only chance.
/// @param logits  (V), finite.
/// @param draw    uniform in [0, 1).
/// Source: Fan, Lewis & Dauphin (2018), ACL (top-k); Holtzman et al. (2020), ICLR, section 3.1
/// (top-p).
std::int64_t choose_token(std::span<const float> logits, const TokenChoice& choice, double draw);

}  // namespace depthgrid
