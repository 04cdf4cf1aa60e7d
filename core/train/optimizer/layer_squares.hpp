#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena_step.hpp"
#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/optimizer/parameter_layout.hpp"

namespace depthgrid {

/// Norms of the gradient of each layer's parameters at one step; NaN for a layer of which nothing
/// is trained.
struct LayerNorms {
  std::vector<double> norm;          // (E, layers) before clip
  std::vector<double> norm_clipped;  // (E, layers)
};

/// Sums of squares of the gradients of layers: a pass of its own over them, for observers. Those of
/// a cell are a function of its own row: the same bits for any E, any number of threads and on a
/// GPU.
class LayerSquares {
 public:
  using LayerOf = std::function<std::optional<std::int64_t>(const std::string& parameter)>;

  /// @param frozen    by group: parameters that are not trained.
  /// @param layer_of  none: the parameter belongs to no layer.
  LayerSquares(const ParameterLayout& layout, const std::array<bool, kParameterGroupCount>& frozen,
               std::int64_t layers, const LayerOf& layer_of);

  /// Reads the gradients, (E, P), before the optimiser zeroes them.
  /// @param kernels  of the gradients' device; null for host memory.
  void read(const at::Tensor& gradients, DeviceKernels* kernels = nullptr);

  /// Norms of what was read. @param clip  of the same gradients: what clipped each group.
  /// @param scale  (E) loss scale, by which the gradients are divided
  LayerNorms norms(const GradientNorms& clip, const std::vector<double>& scale) const;

 private:
  /// What a layer has of one parameter group; each group may be clipped by another factor.
  struct Part {
    std::int64_t layer;
    std::size_t group;
  };
  /// On the gradients' device: the blocks, and sums of theirs.
  struct OnDevice {
    at::Tensor offset, count, part_begin;
    at::Tensor sums, squares;
  };

  void read_host(const at::Tensor& gradients);
  void read_device(const at::Tensor& gradients, DeviceKernels& kernels);

  std::int64_t layers_;
  std::vector<Part> parts_;
  // Blocks of at most SegmentTable::kBlockSize numbers, those of a part in order of offset.
  std::vector<std::int64_t> offset_;
  std::vector<std::int32_t> count_;
  std::vector<std::int32_t> part_begin_;  // (parts + 1) first block
  OnDevice device_;                       // undefined until read there
  std::vector<double> squares_;           // (E, parts)
};

}  // namespace depthgrid
