#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

/// Tokens per sequence executed by a layer of capacity γ: floor(γ T + 1e-9), so that 0.29 · 100 is
/// 29; at least `min_k`, at most T.
std::int64_t capacity_of(double gamma, std::int64_t tokens, std::int64_t min_k = 0);

/// Layers that skip tokens, from the leaf `model.*.layers` (odd, even, all, or a list); none for
/// families whose layers execute every token.
std::vector<std::int64_t> dynamic_layers(const ValueOfLeaf& leaf);

/// capacity_of() sequences of `data.seq_len`, from the family's own leaves: all families that skip
/// have a `capacity`, some a `min_k`. Nothing for families whose layers execute every token.
std::optional<std::int64_t> capacity_count(const ValueOfLeaf& leaf);

}  // namespace depthgrid
