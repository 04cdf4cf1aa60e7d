#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"
#include "core/train/optimizer/arena_step.hpp"
#include "core/train/optimizer/average_slots.hpp"
#include "core/train/optimizer/column_shards.hpp"
#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/train_options.hpp"

namespace depthgrid {

/// How the optimiser sees the rows of an arena: groups and freezing by slot.
SegmentTable segment_table(const ParameterLayout& layout, const TrainOptions& options);

/// The ranks among which an optimiser's state is divided.
struct OptimizerTeam {
  GradientSync* sync = nullptr;  // null: a team of one
  bool divide = false;           // each rank keeps its part of the moments only
};

/// Moments, rates and schedules of E cells over one arena: one norm pass, one update pass.
///
/// Where the moments are divided, each rank updates its columns of the parameters and then gets
/// those of the others: the same bits as if every rank had updated all, with R times fewer bytes of
/// moments on each.
class CellOptimizer {
 public:
  /// Result of one step.
  struct Report {
    GradientNorms norms;
    UpdateNorms update;
    std::vector<double> lr;  // (E) learning rate of the trunk at this step
  };

  /// @param arena   must outlive the optimiser.
  /// @param kernels of the arena's device; null for an arena in host memory.
  /// @param team    its sync must outlive the optimiser.
  CellOptimizer(Arena& arena, const TrainOptions& options,
                std::unique_ptr<DeviceKernels> kernels = nullptr, OptimizerTeam team = {});

  /// Applies the gradients of step `step` (from 1) and zeroes them. Collective where the moments
  /// are divided.
  /// @param active  (E) 0: the cell is not updated and keeps its bits.
  Report step(std::int64_t step, const std::vector<std::uint8_t>& active);

  /// Those of the arena's device; null for an arena in host memory.
  DeviceKernels* kernels() const noexcept { return kernels_.get(); }

  /// What the optimiser keeps beside the parameters; a checkpoint writes it under its name.
  struct Moment {
    std::string_view name;
    at::Tensor values;  // (E, P), or (E, columns of this rank)
  };
  std::vector<Moment>& moments() noexcept { return moments_; }

  /// Lets the team's first rank read whole moments until the next step. Collective.
  void collect_moments();

  /// Row e of moment m, (P) in host memory. On the team's first rank, once they are collected where
  /// they are divided. @throws Error elsewhere.
  at::Tensor moment_row(std::size_t m, std::int64_t e) const;

  /// Sets row e of moment m on all ranks of the team. Collective.
  /// @param row  (P) float32 in host memory on the team's first rank; undefined on the others.
  void set_moment_row(std::size_t m, std::int64_t e, const at::Tensor& row);

 private:
  StepArena arena_view();
  Report step_on_host(std::int64_t step, const std::vector<std::uint8_t>& active);
  void exchange_update(UpdateNorms& norms);
  Report step_on_device(std::int64_t step, const std::vector<std::uint8_t>& active);

  Arena& arena_;
  const TrainOptions options_;
  AverageSlots averages_;
  ArenaStep step_;
  std::unique_ptr<DeviceKernels> kernels_;
  ColumnShards shards_;
  std::vector<Moment> moments_;
  std::vector<at::Tensor> collected_;  // row e of moment m at m * E + e; empty unless divided
};

}  // namespace depthgrid
