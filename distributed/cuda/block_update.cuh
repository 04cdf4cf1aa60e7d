#pragma once

// Read by nvcc: what the kernels of all optimisers share, and the block update of any one of them.

#include <cuda_runtime.h>

#include "distributed/cuda/step_kernels.hpp"

namespace depthgrid {

inline constexpr int kWarp = 32;
inline constexpr int kThreads = 256;
inline constexpr int kReportColumns = 6 + 3 * kKernelGroups;

inline __device__ double add_lanes(double x) {
  for (int half = kWarp / 2; half > 0; half /= 2) x += __shfl_down_sync(0xffffffffU, x, half);
  return x;  // lane 0
}

/// (cell, block) of this warp; cell = -1 beyond the last.
struct WarpPlace {
  std::int64_t cell;
  std::int32_t block;
};

inline __device__ WarpPlace place_of(const StepArgs& a) {
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (warp >= a.cells * a.blocks) return {-1, 0};
  return {warp / a.blocks, static_cast<std::int32_t>(warp % a.blocks)};
}

inline unsigned grid_of(const StepArgs& a) {
  constexpr std::int64_t kWarps = kThreads / kWarp;
  return static_cast<unsigned>((a.cells * a.blocks + kWarps - 1) / kWarps);
}

/// Numbers of one (cell, group) at this step; device twin of GroupScalars.
struct DeviceScalars {
  double lr, weight_decay, gradient_factor, step;
  double own[kKernelScalars];
};

/// One thread per (cell, group): the rates of this step, from the device's own step counter.
template <class Rule>
__global__ void prepare_rates(StepArgs a) {
  static_assert(sizeof(typename Rule::Rates) <= kRateFloats * sizeof(float));
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= a.cells * kKernelGroups) return;
  const std::int64_t cell = at / kKernelGroups;
  const double factor =
      a.report[cell * kReportColumns + 6 + 2 * kKernelGroups + at % kKernelGroups];
  DeviceScalars s;
  s.lr = a.lr[at];
  s.weight_decay = a.weight_decay[at];
  s.gradient_factor = a.gradient_scale[cell] * factor;
  s.step = static_cast<double>(a.step[cell] + 1);
  for (int k = 0; k < kKernelScalars; ++k) s.own[k] = a.own[k] == nullptr ? 0 : a.own[k][cell];
  *reinterpret_cast<typename Rule::Rates*>(a.rates + at * kRateFloats) = Rule::rates(s);
}

inline __device__ std::uint16_t bfloat16_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(nan ? 0x7fc0U : (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

/// Updates one block by `Rule::next(parameter, gradient, moments, rates)`, which returns the new
/// parameter and writes its Rule::kMoments moments.
template <class Rule>
__global__ void __launch_bounds__(kThreads) block_update(StepArgs a) {
  const WarpPlace at = place_of(a);
  if (at.cell < 0) return;
  const DeviceBlock block = a.block_table[at.block];
  const int lane = threadIdx.x % kWarp;
  const std::int64_t begin = at.cell * a.row_size + block.offset;
  float* __restrict__ const p = a.parameters + begin;
  float* __restrict__ const g = a.gradients + begin;
  const std::int64_t own = block.offset - a.own_begin;
  const bool foreign = own < 0 || own >= a.own_columns;
  const std::int64_t kept = at.cell * a.own_columns + own;  // where its moments begin
  const bool held = foreign || a.active[at.cell] == 0 ||
                    a.report[at.cell * kReportColumns + 3] != 0 || block.frozen;
  float changes = 0;
  float squares = 0;
  if (held) {
    for (std::int32_t i = lane; i < block.count; i += kWarp) {
      if (!foreign) squares += p[i] * p[i];
      g[i] = 0;
    }
  } else {
    std::uint16_t* __restrict__ const shadow = a.shadow == nullptr ? nullptr : a.shadow + begin;
    const auto r = *reinterpret_cast<const typename Rule::Rates*>(
        a.rates + (at.cell * kKernelGroups + block.group) * kRateFloats);
#pragma unroll 4
    for (std::int32_t i = lane; i < block.count; i += kWarp) {
      float moments[Rule::kMoments];
      for (int m = 0; m < Rule::kMoments; ++m) moments[m] = a.moments[m][kept + i];
      const float old = p[i];
      const float next = Rule::next(old, g[i], moments, r);
      const float change = next - old;
      changes += change * change;
      squares += next * next;
      p[i] = next;
      for (int m = 0; m < Rule::kMoments; ++m) a.moments[m][kept + i] = moments[m];
      g[i] = 0;
      if (shadow != nullptr) shadow[i] = bfloat16_bits(next);
    }
  }
  const double update_sum = add_lanes(changes);
  const double parameter_sum = add_lanes(squares);
  if (lane == 0) {
    a.update_sums[at.cell * a.blocks + at.block] = update_sum;
    a.sums[at.cell * a.blocks + at.block] = parameter_sum;
  }
}

/// Queues both kernels of one optimiser. @return a cudaError_t.
template <class Rule>
int launch_update(const StepArgs& args, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const auto scalars = static_cast<unsigned>(args.cells * kKernelGroups);
  prepare_rates<Rule><<<(scalars + kThreads - 1) / kThreads, kThreads, 0, queue>>>(args);
  block_update<Rule><<<grid_of(args), kThreads, 0, queue>>>(args);
  return cudaGetLastError();
}

}  // namespace depthgrid
