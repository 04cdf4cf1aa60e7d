#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"
#include "core/train/optimizer/arena_step.hpp"
#include "core/train/optimizer/average_slots.hpp"
#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/train_options.hpp"

namespace depthgrid {

/// How the optimiser sees the rows of an arena: groups and freezing by slot.
SegmentTable segment_table(const ParameterLayout& layout, const TrainOptions& options);

/// Moments, rates and schedules of E cells over one arena: one norm pass, one update pass.
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
  CellOptimizer(Arena& arena, const TrainOptions& options,
                std::unique_ptr<DeviceKernels> kernels = nullptr);

  /// Applies the gradients of step `step` (from 1) and zeroes them.
  /// @param active  (E) 0: the cell is not updated and keeps its bits.
  Report step(std::int64_t step, const std::vector<std::uint8_t>& active);

  /// What the optimiser keeps beside the parameters; a checkpoint writes it under its name.
  struct Moment {
    std::string_view name;
    at::Tensor values;  // (E, P)
  };
  std::vector<Moment>& moments() noexcept { return moments_; }

 private:
  StepArena arena_view();
  Report step_on_host(std::int64_t step, const std::vector<std::uint8_t>& active);
  Report step_on_device(std::int64_t step, const std::vector<std::uint8_t>& active);

  Arena& arena_;
  const TrainOptions options_;
  AverageSlots averages_;
  ArenaStep step_;
  std::unique_ptr<DeviceKernels> kernels_;
  std::vector<Moment> moments_;
};

}  // namespace depthgrid
