#pragma once

#include <cstdint>

// Read by nvcc: C++17, no LibTorch.
namespace depthgrid {

inline constexpr int kKernelGroups = 17;

/// A block of SegmentTable as the device sees it.
struct DeviceBlock {
  std::int64_t offset;
  std::int32_t count;
  std::int32_t group;
  bool decays;
  bool frozen;
};

/// AdamBlockRates of one (cell, group), computed on the device.
struct DeviceAdamRates {
  float gradient_factor, l2, beta1, rest1, beta2, rest2, inverse_root, eps, step_size, decay;
};

/// Everything the kernels read and write; all pointers are device memory. E cells, P = row_size,
/// N = blocks, G = kKernelGroups, S = schedule_steps.
struct CellAdamArgs {
  std::int64_t cells, row_size;
  std::int32_t blocks;
  const DeviceBlock* block_table;                                ///< (N)
  const std::int32_t* block_order;                               ///< (N) grouped
  const std::int32_t* group_begin;                               ///< (G + 1)
  float *parameters, *first_moment, *second_moment, *gradients;  ///< (E, P)
  std::uint16_t* shadow;                                         ///< (E, P) bfloat16, or null
  const double *lr, *lr_factors;                                 ///< (E, G) and (S, E)
  std::int64_t schedule_steps;
  const double* weight_decay;                ///< (E, G)
  const double *beta1, *beta2, *eps, *clip;  ///< (E)
  const std::uint8_t* active;                ///< (E)
  std::int64_t* step;                        ///< (E) updates done so far
  double* report;                            ///< (E, kDeviceReportColumns)
  const double* gradient_scale;              ///< (E), or null: 1
  bool decoupled, clip_by_group;
  double *sums, *update_sums;  ///< (E, N) workspace
  DeviceAdamRates* rates;      ///< (E, G) workspace
};

/// Queue the kernels on `stream` (a cudaStream_t). @return a cudaError_t.
int launch_gradient_norms(const CellAdamArgs& args, void* stream);
int launch_adam_update(const CellAdamArgs& args, void* stream);

}  // namespace depthgrid
