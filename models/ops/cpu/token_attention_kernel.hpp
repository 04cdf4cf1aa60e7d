#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

/// One head of one new token and the slots of its sequence's cache, in float.
struct TokenHead {
  const float *q, *k, *v;  // (D) of the token
  float *keys, *values;    // (slots, D); the last slot is written
  std::int64_t slots;      // including the token's
  std::int64_t channels;   // D
  float scale;             // of q k^T
  const float* cosine;     // (D/2) rotary position of the token (Su et al. 2021), or null
  const float* sine;
};

/// Workspace for one head, in floats.
std::int64_t token_attention_workspace(std::int64_t slots, std::int64_t channels);

/// Stores the rotated k and v in the last slot and writes sum_j p_j v_j over all slots, with
/// p = softmax_j(scale q k_j) and q rotated likewise. @param out  (D)
void token_attention(const TokenHead& head, float* out, float* workspace, Isa isa = isa_in_use());

}  // namespace depthgrid
