#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/train/batch_source.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {

/// What another program needs to repeat the first `steps` steps of a benchmark: config.json (sizes,
/// rates, groups, the leaves of every cell), weights.safetensors (initial, q, k and v apart),
/// gradients.safetensors (of the same shapes: of the first batch at these weights) and
/// batches.safetensors (inputs and targets, (steps, E, B, T)). @throws as publish_replace().
void write_dump(const std::filesystem::path& folder, const std::vector<CellConfig>& cells,
                const FusedModel& fused, const TextBatches& batches, std::int64_t steps);

}  // namespace depthgrid
