// GPU twin of core/train/optimizer/cell_adam.cpp: one warp per (cell, block), lane j of it takes
// elements j, j + 32, ... as the lanes of the CPU's sums do, and lanes are added in the same
// pairwise order. Sums go through memory in two stages, never through atomics: runs repeat to the
// bit. Compile with --fmad=false --ftz=true and precise division and square root.
#include <cfloat>

#include <cuda_runtime.h>

#include "distributed/cuda/cell_adam_kernels.hpp"

namespace depthgrid {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffU;
constexpr double kClipEpsilon = 1e-6;
constexpr int kReportColumns = 6 + 3 * kKernelGroups;

__device__ double add_lanes(double x) {
  for (int half = kWarp / 2; half > 0; half /= 2) x += __shfl_down_sync(kAllLanes, x, half);
  return x;  // lane 0
}

/// (cell, block) of this warp; cell = -1 beyond the last.
struct Place {
  std::int64_t cell;
  std::int32_t block;
};

__device__ Place place_of(const CellAdamArgs& a) {
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (warp >= a.cells * a.blocks) return {-1, 0};
  return {warp / a.blocks, static_cast<std::int32_t>(warp % a.blocks)};
}

__device__ double sum_of_squares(const float* __restrict__ x, std::int32_t count, int lane) {
  float sum = 0;
#pragma unroll 8
  for (std::int32_t i = lane; i < count; i += kWarp) sum += x[i] * x[i];
  return add_lanes(sum);
}

__global__ void __launch_bounds__(kThreads) block_norms(CellAdamArgs a) {
  const Place at = place_of(a);
  if (at.cell < 0) return;
  const DeviceBlock block = a.block_table[at.block];
  const int lane = threadIdx.x % kWarp;
  const float* const x = a.gradients + at.cell * a.row_size + block.offset;
  const double sum = block.frozen ? 0.0 : sum_of_squares(x, block.count, lane);
  if (lane == 0) a.sums[at.cell * a.blocks + at.block] = sum;
}

/// Sum over the blocks of one group of one cell; the warp's number is the group.
__device__ double group_sum(const CellAdamArgs& a, const double* row, int group, int lane) {
  const std::int32_t begin = a.group_begin[group];
  const std::int32_t end = a.group_begin[group + 1];
  double sum = 0;
  for (std::int32_t i = begin + lane; i < end; i += kWarp) sum += row[a.block_order[i]];
  return add_lanes(sum);
}

__device__ double clip_factor(double clip, double norm) {
  return isinf(clip) ? 1.0 : fmin(1.0, clip / (norm + kClipEpsilon));
}

__device__ double scale_of(const CellAdamArgs& a, std::int64_t cell) {
  return a.gradient_scale == nullptr ? 1.0 : a.gradient_scale[cell];
}

/// One thread block a cell, one warp a group; the first thread fills the cell's row of the report.
__global__ void __launch_bounds__(kKernelGroups* kWarp) cell_norms(CellAdamArgs a) {
  __shared__ double squares[kKernelGroups];
  const std::int64_t cell = blockIdx.x;
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const double mine = group_sum(a, a.sums + cell * a.blocks, warp, lane);
  if (lane == 0) squares[warp] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;

  double* const report = a.report + cell * kReportColumns;
  double* const group_norm = report + 6;
  double* const group_clipped = group_norm + kKernelGroups;
  double* const group_factor = group_clipped + kKernelGroups;
  double sum = 0;
  for (int g = 0; g < kKernelGroups; ++g) sum += squares[g];
  const double scale = scale_of(a, cell);
  const double norm = sqrt(sum) * scale;
  const double global = clip_factor(a.clip[cell], norm);
  double smallest = 1;
  double clipped = 0;
  for (int g = 0; g < kKernelGroups; ++g) {
    group_norm[g] = sqrt(squares[g]) * scale;
    group_factor[g] = a.clip_by_group ? clip_factor(a.clip[cell], group_norm[g]) : global;
    group_clipped[g] = group_factor[g] * group_norm[g];
    clipped += group_clipped[g] * group_clipped[g];
    smallest = group_factor[g] < smallest ? group_factor[g] : smallest;
  }
  report[0] = norm;
  report[1] = a.clip_by_group ? sqrt(clipped) : global * norm;
  report[2] = a.clip_by_group ? smallest : global;
  report[3] = isfinite(sum) ? 0 : 1;
}

/// One thread a (cell, group): the scalars of this step, from the device's own step counter.
__global__ void prepare_rates(CellAdamArgs a) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= a.cells * kKernelGroups) return;
  const std::int64_t cell = at / kKernelGroups;
  const std::int64_t step = a.step[cell] + 1;
  const std::int64_t row = step < a.schedule_steps ? step - 1 : a.schedule_steps - 1;
  const double lr = a.lr[at] * a.lr_factors[row * a.cells + cell];
  const double decay = a.weight_decay[at];
  const double t = static_cast<double>(step);
  const double correction1 = 1 - pow(a.beta1[cell], t);
  const double correction2 = 1 - pow(a.beta2[cell], t);
  const double factor =
      a.report[cell * kReportColumns + 6 + 2 * kKernelGroups + at % kKernelGroups];
  const float eps = static_cast<float>(a.eps[cell]);
  DeviceAdamRates r;
  r.gradient_factor = static_cast<float>(scale_of(a, cell) * factor);
  r.l2 = static_cast<float>(a.decoupled ? 0.0 : decay);
  r.beta1 = static_cast<float>(a.beta1[cell]);
  r.rest1 = static_cast<float>(1 - a.beta1[cell]);
  r.beta2 = static_cast<float>(a.beta2[cell]);
  r.rest2 = static_cast<float>(1 - a.beta2[cell]);
  r.inverse_root = static_cast<float>(correction2 > 0 ? 1 / sqrt(correction2) : 1.0);
  r.eps = eps < FLT_MIN ? FLT_MIN : eps;
  r.step_size = static_cast<float>(correction1 > 0 ? lr / correction1 : 0.0);
  r.decay = static_cast<float>(a.decoupled ? 1 - lr * decay : 1.0);
  a.rates[at] = r;
}

__device__ std::uint16_t bfloat16_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(nan ? 0x7fc0U : (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

__global__ void __launch_bounds__(kThreads) block_update(CellAdamArgs a) {
  const Place at = place_of(a);
  if (at.cell < 0) return;
  const DeviceBlock block = a.block_table[at.block];
  const int lane = threadIdx.x % kWarp;
  const std::int64_t begin = at.cell * a.row_size + block.offset;
  float* __restrict__ const p = a.parameters + begin;
  float* __restrict__ const g = a.gradients + begin;
  const bool held =
      a.active[at.cell] == 0 || a.report[at.cell * kReportColumns + 3] != 0 || block.frozen;
  float changes = 0;
  float squares = 0;
  if (held) {
    for (std::int32_t i = lane; i < block.count; i += kWarp) {
      squares += p[i] * p[i];
      g[i] = 0;
    }
  } else {
    float* __restrict__ const m = a.first_moment + begin;
    float* __restrict__ const v = a.second_moment + begin;
    std::uint16_t* __restrict__ const shadow = a.shadow == nullptr ? nullptr : a.shadow + begin;
    DeviceAdamRates r = a.rates[at.cell * kKernelGroups + block.group];
    if (!block.decays) {
      r.l2 = 0;
      r.decay = 1;
    }
#pragma unroll 4
    for (std::int32_t i = lane; i < block.count; i += kWarp) {
      const float old = p[i];
      const float gradient = g[i] * r.gradient_factor + old * r.l2;
      const float first = r.beta1 * m[i] + r.rest1 * gradient;
      const float second = r.beta2 * v[i] + (r.rest2 * gradient) * gradient;
      const float denominator = sqrtf(second) * r.inverse_root + r.eps;
      const float next = old * r.decay - r.step_size * first / denominator;
      const float change = next - old;
      changes += change * change;
      squares += next * next;
      p[i] = next;
      m[i] = first;
      v[i] = second;
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

/// Norms of the update and of the parameters, and one more step on the counter.
__global__ void __launch_bounds__(kKernelGroups* kWarp) finish_update(CellAdamArgs a) {
  __shared__ double updates[kKernelGroups];
  __shared__ double parameters[kKernelGroups];
  const std::int64_t cell = blockIdx.x;
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const double update = group_sum(a, a.update_sums + cell * a.blocks, warp, lane);
  const double parameter = group_sum(a, a.sums + cell * a.blocks, warp, lane);
  if (lane == 0) {
    updates[warp] = update;
    parameters[warp] = parameter;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  double update_total = 0;
  double parameter_total = 0;
  for (int g = 0; g < kKernelGroups; ++g) {
    update_total += updates[g];
    parameter_total += parameters[g];
  }
  a.report[cell * kReportColumns + 4] = sqrt(update_total);
  a.report[cell * kReportColumns + 5] = sqrt(parameter_total);
  a.step[cell] += 1;
}

unsigned grid_of(const CellAdamArgs& a) {
  constexpr std::int64_t kWarps = kThreads / kWarp;
  return static_cast<unsigned>((a.cells * a.blocks + kWarps - 1) / kWarps);
}

}  // namespace

int launch_gradient_norms(const CellAdamArgs& args, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  block_norms<<<grid_of(args), kThreads, 0, queue>>>(args);
  cell_norms<<<static_cast<unsigned>(args.cells), kKernelGroups * kWarp, 0, queue>>>(args);
  return cudaGetLastError();
}

int launch_adam_update(const CellAdamArgs& args, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const std::int64_t scalars = args.cells * kKernelGroups;
  prepare_rates<<<static_cast<unsigned>((scalars + kThreads - 1) / kThreads), kThreads, 0, queue>>>(
      args);
  block_update<<<grid_of(args), kThreads, 0, queue>>>(args);
  finish_update<<<static_cast<unsigned>(args.cells), kKernelGroups * kWarp, 0, queue>>>(args);
  return cudaGetLastError();
}

}  // namespace depthgrid
