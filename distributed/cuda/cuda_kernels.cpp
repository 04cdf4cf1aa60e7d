#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"
#include "core/train/optimizer/device_kernels.hpp"
#include "distributed/cuda/cell_adam_kernels.hpp"

namespace depthgrid {
namespace {

static_assert(kKernelGroups == kParameterGroupCount);

void check(int code, const char* call, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  if (code == cudaSuccess) return;
  throw BackendError("CUDA", call, code, cudaGetErrorString(static_cast<cudaError_t>(code)), file,
                     line);
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
    check(cudaMalloc(&raw, (count == 0 ? 1 : count) * sizeof(T)), "cudaMalloc");
    memory_.reset(raw);
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    check(cudaMemcpy(memory_.get(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  T* get() const { return static_cast<T*>(memory_.get()); }

 private:
  UniqueHandle<MemoryTraits> memory_;
};

std::vector<DeviceBlock> device_blocks(const SegmentTable& table) {
  std::vector<DeviceBlock> blocks;
  for (const Segment& b : table.blocks()) {
    blocks.push_back({.offset = b.offset,
                      .count = static_cast<std::int32_t>(b.count),
                      .group = static_cast<std::int32_t>(b.group),
                      .decays = b.decays,
                      .frozen = b.frozen});
  }
  return blocks;
}

class CudaKernels final : public DeviceKernels {
 public:
  CudaKernels(const SegmentTable& table, AdamKind kind, ClipScope scope, std::int64_t cells)
      : kind_(kind),
        scope_(scope),
        cells_(cells),
        row_size_(table.row_size()),
        count_(table.blocks().size()),
        blocks_(std::span<const DeviceBlock>(device_blocks(table))),
        order_(table.block_order()),
        group_begin_(table.group_begin()),
        sums_(static_cast<std::size_t>(cells) * count_),
        update_sums_(static_cast<std::size_t>(cells) * count_),
        rates_(static_cast<std::size_t>(cells) * kKernelGroups) {}

  void gradient_norms(const DeviceAdamState& state, void* stream) override {
    check(launch_gradient_norms(args(state), stream), "gradient_norms");
  }

  void update(const DeviceAdamState& state, void* stream) override {
    check(launch_adam_update(args(state), stream), "adam_update");
  }

 private:
  CellAdamArgs args(const DeviceAdamState& s) const {
    if (s.arena.cells != cells_ || s.schedule_steps < 1) {
      throw ShapeError("device Adam: made for " + std::to_string(cells_) + " cells, got " +
                       std::to_string(s.arena.cells) + " cells and a schedule of " +
                       std::to_string(s.schedule_steps) + " steps");
    }
    return {.cells = cells_,
            .row_size = row_size_,
            .blocks = static_cast<std::int32_t>(count_),
            .block_table = blocks_.get(),
            .block_order = order_.get(),
            .group_begin = group_begin_.get(),
            .parameters = s.arena.parameters,
            .first_moment = s.arena.first_moment,
            .second_moment = s.arena.second_moment,
            .gradients = s.arena.gradients,
            .shadow = s.arena.shadow,
            .lr = s.lr,
            .lr_factors = s.lr_factors,
            .schedule_steps = s.schedule_steps,
            .weight_decay = s.weight_decay,
            .beta1 = s.beta1,
            .beta2 = s.beta2,
            .eps = s.eps,
            .clip = s.clip,
            .active = s.active,
            .step = s.step,
            .report = s.report,
            .gradient_scale = s.gradient_scale,
            .decoupled = kind_ == AdamKind::AdamW,
            .clip_by_group = scope_ == ClipScope::Group,
            .sums = sums_.get(),
            .update_sums = update_sums_.get(),
            .rates = rates_.get()};
  }

  AdamKind kind_;
  ClipScope scope_;
  std::int64_t cells_;
  std::int64_t row_size_;
  std::size_t count_;
  DeviceArray<DeviceBlock> blocks_;
  DeviceArray<std::int32_t> order_;
  DeviceArray<std::int32_t> group_begin_;
  DeviceArray<double> sums_;
  DeviceArray<double> update_sums_;
  DeviceArray<DeviceAdamRates> rates_;
};

}  // namespace

std::unique_ptr<DeviceKernels> make_cuda_kernels(const SegmentTable& table, AdamKind kind,
                                                 ClipScope scope, std::int64_t cells) {
  return std::make_unique<CudaKernels>(table, kind, scope, cells);
}

}  // namespace depthgrid
