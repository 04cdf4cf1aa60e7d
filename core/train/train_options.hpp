#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"
#include "core/train/lr_schedule.hpp"
#include "core/train/optimizer/cell_adam.hpp"

namespace depthgrid {

enum class Precision : std::uint8_t { Fp32, Tf32, Bf16 };

/// Leaves `train.*` of E cells of equal structure: structural ones once, per-cell ones as vectors.
struct TrainOptions {
  std::int64_t cells = 1;  // E
  std::int64_t steps = 1000;
  std::int64_t batch = 8;         // B, global
  std::int64_t accumulation = 1;  // micro-batches
  AdamKind optimizer = AdamKind::Adam;
  ClipScope clip_scope = ClipScope::Global;
  Precision precision = Precision::Fp32;
  std::array<bool, kParameterGroupCount> decays{};  // off the no-decay list
  std::array<bool, kParameterGroupCount> frozen{};
  std::vector<std::uint64_t> model_seed, data_seed;   // (E)
  std::vector<double> beta1, beta2, eps, clip;        // (E); clip: infinity = none
  std::vector<double> lr, weight_decay;               // (E, groups), peak rates
  std::vector<double> loss_scale;                     // (E)
  std::vector<double> diverged_above;                 // (E); infinity = only non-finite
  std::vector<ScheduleOptions> schedule;              // (E)
  std::vector<std::optional<std::int64_t>> patience;  // (E) evaluations; none = no early stop
  std::vector<double> min_delta;                      // (E) nats per token
};

/// @param cells  at least one; structural leaves are taken from the first.
TrainOptions train_options(const std::vector<const CellConfig*>& cells);

}  // namespace depthgrid
