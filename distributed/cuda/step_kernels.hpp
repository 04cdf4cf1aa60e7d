#pragma once

#include <cstdint>

#include "core/train/optimizer/device_parts.hpp"

// Read by nvcc: C++17, no LibTorch.
namespace depthgrid {

inline constexpr int kKernelGroups = 17;

inline constexpr int kKernelMoments = 4;
inline constexpr int kKernelScalars = 8;
inline constexpr int kRateFloats = 16;  ///< space for an optimiser's rates of one (cell, group)

/// One block of SegmentTable in device memory.
struct DeviceBlock {
  std::int64_t offset;
  std::int32_t count;
  std::int32_t group;
  bool frozen;
};

/// Arguments of the kernels; all pointers are device memory. E cells, P = row_size, N = blocks,
/// G = kKernelGroups.
struct StepArgs {
  std::int64_t cells, row_size;
  std::int32_t blocks;
  const DeviceBlock* block_table;       ///< (N)
  const std::int32_t* block_order;      ///< (N) grouped
  const std::int32_t* group_begin;      ///< (G + 1)
  float *parameters, *gradients;        ///< (E, P)
  float* moments[kKernelMoments];       ///< (E, own_columns) each; null beyond the optimiser's
  std::uint16_t* shadow;                ///< (E, P) bfloat16, or null
  const double *lr, *weight_decay;      ///< (E, G) each
  const double* own[kKernelScalars];    ///< (E) each: scalars of the optimiser
  const double* clip;                   ///< (E)
  const std::uint8_t* active;           ///< (E)
  std::int64_t* step;                   ///< (E) updates done so far
  double* report;                       ///< (E, kDeviceReportColumns)
  const double* gradient_scale;         ///< (E)
  std::int64_t own_begin, own_columns;  ///< what the update changes, see StepArena
  std::uint32_t clip_alone;             ///< bit g: group g has a norm of its own
  double *sums, *update_sums;           ///< (E, N) workspace
  float* rates;                         ///< (E, G, kRateFloats) workspace
};

/// Queues kernels on `stream` (a cudaStream_t). @return a cudaError_t.
using Launch = int (*)(const StepArgs& args, void* stream);

int launch_gradient_norms(const StepArgs& args, void* stream);

// Each updates blocks and leaves their sums in the workspace (block_update.cuh); one file each.
int launch_adam(const StepArgs& args, void* stream);
int launch_adamw(const StepArgs& args, void* stream);

/// Norms of the update and of the parameters from those sums; increments the step counter.
int launch_finish_update(const StepArgs& args, void* stream);

/// Sums of squares of parts of rows.
int launch_part_squares(const DeviceParts& parts, void* stream);

}  // namespace depthgrid
