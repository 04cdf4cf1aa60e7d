// What all optimisers share on a GPU, twin of core/train/optimizer/arena_step.cpp: one warp per
// (cell, block), whose lane j takes elements j, j + 32, ... like the lanes of the CPU's sums, and
// lanes are added in the same pairwise order. Sums go through memory in two stages, never through
// atomics: runs repeat to the bit. Compile with --fmad=false --ftz=true and precise division and
// square root.
#include "distributed/cuda/block_update.cuh"

namespace depthgrid {
namespace {

constexpr double kClipEpsilon = 1e-6;

__device__ double sum_of_squares(const float* __restrict__ x, std::int32_t count, int lane) {
  float sum = 0;
#pragma unroll 8
  for (std::int32_t i = lane; i < count; i += kWarp) sum += x[i] * x[i];
  return add_lanes(sum);
}

__global__ void __launch_bounds__(kThreads) block_norms(StepArgs a) {
  const WarpPlace at = place_of(a);
  if (at.cell < 0) return;
  const DeviceBlock block = a.block_table[at.block];
  const int lane = threadIdx.x % kWarp;
  const float* const x = a.gradients + at.cell * a.row_size + block.offset;
  const double sum = block.frozen ? 0.0 : sum_of_squares(x, block.count, lane);
  if (lane == 0) a.sums[at.cell * a.blocks + at.block] = sum;
}

/// Sum over the blocks of one group of one cell; the warp's number is the group.
__device__ double group_sum(const StepArgs& a, const double* row, int group, int lane) {
  const std::int32_t begin = a.group_begin[group];
  const std::int32_t end = a.group_begin[group + 1];
  double sum = 0;
  for (std::int32_t i = begin + lane; i < end; i += kWarp) sum += row[a.block_order[i]];
  return add_lanes(sum);
}

__device__ double clip_factor(double clip, double norm) {
  return isinf(clip) ? 1.0 : fmin(1.0, clip / (norm + kClipEpsilon));
}

/// One thread block per cell, one warp per group; the first thread fills the cell's row of the
/// report.
__global__ void __launch_bounds__(kKernelGroups* kWarp) cell_norms(StepArgs a) {
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
  double together = 0;
  for (int g = 0; g < kKernelGroups; ++g) {
    sum += squares[g];
    if ((a.clip_alone >> g & 1U) == 0) together += squares[g];
  }
  const double scale = a.gradient_scale[cell];
  const double norm = sqrt(sum) * scale;
  const double shared = clip_factor(a.clip[cell], sqrt(together) * scale);
  double smallest = 1;
  double clipped = 0;
  for (int g = 0; g < kKernelGroups; ++g) {
    group_norm[g] = sqrt(squares[g]) * scale;
    group_factor[g] =
        (a.clip_alone >> g & 1U) != 0 ? clip_factor(a.clip[cell], group_norm[g]) : shared;
    group_clipped[g] = group_factor[g] * group_norm[g];
    clipped += group_clipped[g] * group_clipped[g];
    smallest = group_factor[g] < smallest ? group_factor[g] : smallest;
  }
  report[0] = norm;
  report[1] = a.clip_alone != 0 ? sqrt(clipped) : shared * norm;
  report[2] = smallest;
  report[3] = isfinite(sum) ? 0 : 1;
}

/// Norms of the update and of the parameters; increments the step counter.
__global__ void __launch_bounds__(kKernelGroups* kWarp) finish_update(StepArgs a) {
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

/// One warp per (row, block).
__global__ void __launch_bounds__(kThreads) block_squares(DeviceParts a) {
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (warp >= a.rows * a.blocks) return;
  const std::int64_t block = warp % a.blocks;
  const int lane = threadIdx.x % kWarp;
  const float* const x = a.x + warp / a.blocks * a.row_size + a.offset[block];
  const double sum = sum_of_squares(x, a.count[block], lane);
  if (lane == 0) a.sums[warp] = sum;
}

/// One thread per (row, part), which adds its blocks in order.
__global__ void __launch_bounds__(kThreads) part_squares(DeviceParts a) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= a.rows * a.parts) return;
  const std::int64_t part = at % a.parts;
  const double* const row = a.sums + at / a.parts * a.blocks;
  double sum = 0;
  for (std::int32_t b = a.part_begin[part]; b < a.part_begin[part + 1]; ++b) sum += row[b];
  a.squares[at] = sum;
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

int launch_gradient_norms(const StepArgs& args, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  block_norms<<<grid_of(args), kThreads, 0, queue>>>(args);
  cell_norms<<<static_cast<unsigned>(args.cells), kKernelGroups * kWarp, 0, queue>>>(args);
  return cudaGetLastError();
}

int launch_finish_update(const StepArgs& args, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  finish_update<<<static_cast<unsigned>(args.cells), kKernelGroups * kWarp, 0, queue>>>(args);
  return cudaGetLastError();
}

int launch_part_squares(const DeviceParts& parts, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  block_squares<<<blocks_for(parts.rows * parts.blocks * kWarp), kThreads, 0, queue>>>(parts);
  part_squares<<<blocks_for(parts.rows * parts.parts), kThreads, 0, queue>>>(parts);
  return cudaGetLastError();
}

}  // namespace depthgrid
