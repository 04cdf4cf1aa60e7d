#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/config/cell_config.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// Tokens per sequence executed by a layer of capacity γ: floor(γ T + 1e-9), so that 0.29 · 100 is
/// 29; at least `min_k`, at most T.
std::int64_t capacity_of(double gamma, std::int64_t tokens, std::int64_t min_k = 0);

/// That number for sequences of `data.seq_len`, of a resolved configuration; none for families
/// whose layers execute every token.
std::optional<std::int64_t> capacity_count(const CellConfig& config);

/// The leaf of the cell's capacity, in whose place the fusion key has the number of tokens that
/// layers execute of a sequence of `data.seq_len`, because they are gathered
/// (`model.tdt.execution`, `model.mod.execution`); none for other cells.
std::optional<std::size_t> gathered_capacity_leaf(const Slots& slots);

/// The number in its place. @throws Error for a cell whose tokens are not gathered.
std::int64_t gathered_count(const Slots& slots);

/// The same of a resolved configuration; none for a cell whose tokens are not gathered.
std::optional<std::int64_t> gathered_count(const CellConfig& config);

}  // namespace depthgrid
