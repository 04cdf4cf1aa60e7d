#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Leaf packing.cells_per_gpu: launches side by side on one card.
/// @param card_bytes  memory of the smallest card; none: not known, as without nvidia-smi.
/// @param job_bytes   of the largest job; NaN: not known.
/// @return auto: 1 unless both are known and several fit into 80 % of the card; at most 4, since
///         launches that share a card take turns on its cores.
std::int64_t launches_per_card(const CellConfig& run, std::optional<double> card_bytes,
                               double job_bytes);

/// The same where nothing is known of the cards: on a login node.
std::int64_t launches_per_card(const CellConfig& run);

/// Bytes of the smallest card from the lines of `nvidia-smi --query-gpu=memory.total
/// --format=csv,noheader,nounits`, which are MiB; none if a line is no number, or there is none.
std::optional<double> smallest_card(const std::string& lines);

}  // namespace depthgrid
