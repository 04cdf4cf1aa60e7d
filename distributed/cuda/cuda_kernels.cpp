#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"
#include "distributed/cuda/plugin_parts.hpp"
#include "distributed/cuda/step_kernels.hpp"

namespace depthgrid {
namespace {

static_assert(kKernelGroups == kParameterGroupCount && kKernelMoments == kMaxMoments &&
              kKernelScalars == kMaxOptimizerScalars);

/// The optimisers that have a GPU kernel, by their word of `train.optimizer`.
struct DeviceOptimizer {
  std::string_view word;
  Launch update;
};
constexpr DeviceOptimizer kOptimizers[] = {{"adam", launch_adam}, {"adamw", launch_adamw}};

Launch update_of(std::string_view word) {
  for (const DeviceOptimizer& row : kOptimizers) {
    if (row.word == word) return row.update;
  }
  throw BackendError("CUDA", "make_kernels", 0,
                     "the optimiser " + std::string(word) + " has no kernel for GPUs");
}

struct MemoryTraits {
  using Handle = void*;
  static Handle null() noexcept { return nullptr; }
  static void release(Handle memory) noexcept { cudaFree(memory); }
};

/// Device memory for `count` values, at least one so that the pointer is never null.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    void* raw = nullptr;
    check_cuda(cudaMalloc(&raw, (count == 0 ? 1 : count) * sizeof(T)), "cudaMalloc");
    memory_.reset(raw);
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    check_cuda(
        cudaMemcpy(memory_.get(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  }
  T* get() const { return static_cast<T*>(memory_.get()); }

 private:
  UniqueHandle<MemoryTraits> memory_;
};

std::vector<DeviceBlock> device_blocks(const BlockSpans& table) {
  std::vector<DeviceBlock> blocks;
  for (const Segment& b : table.blocks) {
    blocks.push_back({.offset = b.offset,
                      .count = static_cast<std::int32_t>(b.count),
                      .group = static_cast<std::int32_t>(b.group),
                      .frozen = b.frozen});
  }
  return blocks;
}

class CudaKernels final : public DeviceKernels {
 public:
  CudaKernels(const BlockSpans& table, std::string_view optimizer, std::uint32_t clip_alone,
              std::int64_t cells)
      : device_(c10::cuda::current_device()),
        update_(update_of(optimizer)),
        clip_alone_(clip_alone),
        cells_(cells),
        row_size_(table.row_size),
        count_(table.blocks.size()),
        blocks_(std::span<const DeviceBlock>(device_blocks(table))),
        order_(table.block_order),
        group_begin_(table.group_begin),
        sums_(static_cast<std::size_t>(cells) * count_),
        update_sums_(static_cast<std::size_t>(cells) * count_),
        rates_(static_cast<std::size_t>(cells) * kKernelGroups * kRateFloats) {}

  void gradient_norms(const DeviceStepState& state) override {
    const c10::cuda::CUDAGuard here(device_);
    check_cuda(launch_gradient_norms(args(state), stream()), "gradient_norms");
  }

  void update(const DeviceStepState& state) override {
    const c10::cuda::CUDAGuard here(device_);
    check_cuda(update_(args(state), stream()), "update");
    check_cuda(launch_finish_update(args(state), stream()), "finish_update");
  }

  void squares(const DeviceParts& parts) override {
    const c10::cuda::CUDAGuard here(device_);
    check_cuda(launch_part_squares(parts, stream()), "squares");
  }

 private:
  void* stream() const { return c10::cuda::getCurrentCUDAStream(device_).stream(); }

  StepArgs args(const DeviceStepState& s) const {
    if (s.arena.cells != cells_) {
      throw ShapeError("optimiser on the device: made for " + std::to_string(cells_) +
                       " cells, got " + std::to_string(s.arena.cells));
    }
    StepArgs out{.cells = cells_,
                 .row_size = row_size_,
                 .blocks = static_cast<std::int32_t>(count_),
                 .block_table = blocks_.get(),
                 .block_order = order_.get(),
                 .group_begin = group_begin_.get(),
                 .parameters = s.arena.parameters,
                 .gradients = s.arena.gradients,
                 .moments = {},
                 .shadow = s.arena.shadow,
                 .lr = s.lr,
                 .weight_decay = s.weight_decay,
                 .own = {},
                 .clip = s.clip,
                 .active = s.active,
                 .step = s.step,
                 .report = s.report,
                 .gradient_scale = s.gradient_scale,
                 .own_begin = s.arena.own_begin,
                 .own_columns = s.arena.own_columns(row_size_),
                 .clip_alone = clip_alone_,
                 .sums = sums_.get(),
                 .update_sums = update_sums_.get(),
                 .rates = rates_.get()};
    std::ranges::copy(s.arena.moments, out.moments);
    std::ranges::copy(s.own, out.own);
    return out;
  }

  c10::DeviceIndex device_;
  Launch update_;
  std::uint32_t clip_alone_;
  std::int64_t cells_;
  std::int64_t row_size_;
  std::size_t count_;
  DeviceArray<DeviceBlock> blocks_;
  DeviceArray<std::int32_t> order_;
  DeviceArray<std::int32_t> group_begin_;
  DeviceArray<double> sums_;
  DeviceArray<double> update_sums_;
  DeviceArray<float> rates_;
};

}  // namespace

void check_cuda(int code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  throw BackendError("CUDA", call, code, cudaGetErrorString(static_cast<cudaError_t>(code)), file,
                     line);
}

std::unique_ptr<DeviceKernels> make_cuda_kernels(const BlockSpans& blocks,
                                                 std::string_view optimizer,
                                                 std::uint32_t clip_alone, std::int64_t cells) {
  return std::make_unique<CudaKernels>(blocks, optimizer, clip_alone, cells);
}

}  // namespace depthgrid
