#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"
#include "core/train/lr_schedule.hpp"
#include "core/train/optimizer/arena_step.hpp"

namespace depthgrid {

enum class Precision : std::uint8_t { Fp32, Tf32, Bf16 };

/// Leaves `train.*` of E cells of equal structure: structural ones once, per-cell ones as vectors.
struct TrainOptions {
  std::int64_t cells = 1;  // E
  std::int64_t steps = 1000;
  std::int64_t batch = 8;          // B, global
  std::int64_t accumulation = 1;   // micro-batches
  std::string optimizer = "adam";  // OptimizerRow::word
  ClipScope clip_scope;
  Precision precision = Precision::Fp32;
  std::array<bool, kParameterGroupCount> frozen{};
  std::vector<std::uint64_t> model_seed, data_seed;   // (E)
  std::vector<std::int64_t> first_step;               // (E) of the window order; 0 = its beginning
  std::vector<std::vector<double>> scalars;           // (E) each, of OptimizerRow::scalars
  std::vector<double> clip;                           // (E); infinity = none
  std::vector<double> lr, weight_decay;               // (E, groups), peak rates; 0 = no decay
  std::vector<double> loss_scale;                     // (E)
  std::vector<double> diverged_above;                 // (E); infinity = only non-finite
  std::vector<ScheduleOptions> schedule;              // (E)
  std::vector<std::optional<std::int64_t>> patience;  // (E) evaluations; none = no early stop
  std::vector<double> min_delta;                      // (E) nats per token
};

/// @param cells  at least one; structural leaves are taken from the first.
TrainOptions train_options(const std::vector<const CellConfig*>& cells);

}  // namespace depthgrid
