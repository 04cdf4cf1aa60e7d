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
#include "core/train/optimizer/parameter_layout.hpp"

namespace depthgrid {

/// Norms of the gradient of each layer's parameters at one step; NaN for a layer of which nothing
/// is trained.
struct LayerNorms {
  std::vector<double> norm;          // (E, layers) before clip
  std::vector<double> norm_clipped;  // (E, layers)
};

/// Sums of squares of the gradients of layers: a pass of its own over them, for observers. Of one
/// cell in host memory it is a function of its own row: the same bits for any E and any number of
/// threads.
class LayerSquares {
 public:
  using LayerOf = std::function<std::optional<std::int64_t>(const std::string& parameter)>;

  /// @param frozen    by group: parameters that are not trained.
  /// @param layer_of  none: the parameter belongs to no layer.
  LayerSquares(const ParameterLayout& layout, const std::array<bool, kParameterGroupCount>& frozen,
               std::int64_t layers, const LayerOf& layer_of);

  /// Reads the gradients, (E, P), before the optimiser zeroes them.
  void read(const at::Tensor& gradients);

  /// Norms of what was read. @param clip  of the same gradients: what clipped each group.
  /// @param scale  (E) loss scale, by which the gradients are divided
  LayerNorms norms(const GradientNorms& clip, const std::vector<double>& scale) const;

 private:
  struct Run {
    std::int64_t offset, count;
  };
  /// What a layer has of one parameter group; each group may be clipped by another factor.
  struct Part {
    std::int64_t layer;
    std::size_t group;
    std::vector<Run> runs;  // in order of offset, none adjacent to the next
  };

  void read_host(const at::Tensor& gradients);
  void read_device(const at::Tensor& gradients);

  std::int64_t layers_;
  std::vector<Part> parts_;
  std::vector<double> squares_;  // (E, parts)
};

}  // namespace depthgrid
