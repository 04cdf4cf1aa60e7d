#pragma once

#include <cstdint>
#include <span>

#include "core/train/optimizer/arena_step.hpp"
#include "core/train/optimizer/device_parts.hpp"
#include "core/train/optimizer/segment_table.hpp"

namespace depthgrid {

/// Device-side twin of StepArena and StepRates: every pointer is device memory of the current
/// device.
struct DeviceStepState {
  StepArena arena;                               ///< pointers to device memory
  const double* lr = nullptr;                    ///< (E, G) rate of this step, after the schedule
  const double* weight_decay = nullptr;          ///< (E, G)
  const double* own[kMaxOptimizerScalars] = {};  ///< (E) each: OptimizerRow::scalars
  const double* clip = nullptr;                  ///< (E)
  const std::uint8_t* active = nullptr;          ///< (E)
  std::int64_t* step = nullptr;                  ///< (E) updates done so far; update() adds one
  double* report = nullptr;                ///< (E, kDeviceReportColumns), filled by the kernels
  const double* gradient_scale = nullptr;  ///< (E) factor on the gradients
};

/// Columns of DeviceStepState::report: norm, norm_clipped, factor, nonfinite (0 or 1), update_norm,
/// parameter_norm, then group_norm, group_norm_clipped and group_factor of G columns each.
inline constexpr int kDeviceReportColumns = 6 + 3 * static_cast<int>(kParameterGroupCount);

/// The optimiser's kernels for a GPU. Same blocks, same order of sums and same rounding of each
/// operation as ArenaStep; no atomics on floats, so runs repeat to the bit. They are queued on
/// LibTorch's current stream of the device for which they were made, allocate nothing and throw
/// BackendError if a launch fails.
class DeviceKernels {
 public:
  virtual ~DeviceKernels() = default;

  /// The norm pass and the clip.
  virtual void gradient_norms(const DeviceStepState& state) = 0;

  /// One step; reads the report filled by gradient_norms().
  virtual void update(const DeviceStepState& state) = 0;

  /// Sums of squares of parts of rows, in the order and with the bits of LayerSquares on the host:
  /// two launches, whatever the number of rows and parts.
  virtual void squares(const DeviceParts& parts) = 0;
};

/// What a device needs from a SegmentTable.
struct BlockSpans {
  std::int64_t row_size;                      ///< P
  std::span<const Segment> blocks;            ///< SegmentTable::blocks()
  std::span<const std::int32_t> block_order;  ///< of SegmentTable
  std::span<const std::int32_t> group_begin;  ///< of SegmentTable
};

}  // namespace depthgrid
