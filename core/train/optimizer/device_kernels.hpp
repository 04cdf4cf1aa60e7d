#pragma once

#include <cstdint>
#include <memory>

#include "core/train/optimizer/cell_adam.hpp"
#include "core/train/optimizer/segment_table.hpp"

namespace depthgrid {

/// Device-side twin of AdamArena and AdamRates: every pointer is device memory of the current
/// device. Nothing here changes from step to step on the host, so that a CUDA graph of one step can
/// be replayed: the step counter and the rates' schedule live on the device.
struct DeviceAdamState {
  AdamArena arena;                         ///< pointers to device memory
  const double* lr = nullptr;              ///< (E, G) peak rates
  const double* lr_factors = nullptr;      ///< (S, E) schedule_factor of steps 1 ... S
  std::int64_t schedule_steps = 0;         ///< S; later steps use the last row
  const double* weight_decay = nullptr;    ///< (E, G)
  const double* beta1 = nullptr;           ///< (E)
  const double* beta2 = nullptr;           ///< (E)
  const double* eps = nullptr;             ///< (E)
  const double* clip = nullptr;            ///< (E)
  const std::uint8_t* active = nullptr;    ///< (E)
  std::int64_t* step = nullptr;            ///< (E) updates done so far; update() adds one
  double* report = nullptr;                ///< (E, kDeviceReportColumns), filled by the kernels
  const double* gradient_scale = nullptr;  ///< (E) factor on the gradients; null: 1 for all
};

/// Columns of DeviceAdamState::report: norm, norm_clipped, factor, nonfinite (0 or 1), update_norm,
/// parameter_norm, then group_norm, group_norm_clipped and group_factor of G columns each.
inline constexpr int kDeviceReportColumns = 6 + 3 * static_cast<int>(kParameterGroupCount);

/// The optimiser's kernels for a GPU. Same blocks, same order of sums and same rounding of each
/// operation as CellAdam; no atomics on floats, so runs repeat to the bit.
class DeviceKernels {
 public:
  virtual ~DeviceKernels() = default;

  /// Queues the norm pass and the clip on `stream` (a cudaStream_t). Allocates nothing.
  /// @throws BackendError if a launch fails.
  virtual void gradient_norms(const DeviceAdamState& state, void* stream) = 0;

  /// Queues one step on `stream`; reads the report that gradient_norms() has filled.
  /// @throws BackendError if a launch fails.
  virtual void update(const DeviceAdamState& state, void* stream) = 0;
};

/// Defined in the GPU plug-in alone; programs call make_device_kernels (distributed/).
/// @param table  copied to the current device, with workspace for `cells` rows.
/// @throws BackendError if the device has no memory for it.
std::unique_ptr<DeviceKernels> make_cuda_kernels(const SegmentTable& table, AdamKind kind,
                                                 ClipScope scope, std::int64_t cells);

}  // namespace depthgrid
