#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"

namespace depthgrid {

/// A loss whose gradient is checked: a sum of named terms.
struct LossUnderCheck {
  std::vector<std::string_view> names;
  /// The weighted terms, in the unit of the compared gradients, with graphs.
  std::function<std::vector<at::Tensor>()> terms;
};

/// Comparison of autograd and finite differences for one group of parameters.
struct GroupGradients {
  std::string group;
  std::vector<std::string> terms;  // those from which autograd reaches it
  std::int64_t elements = 0;       // compared
  double worst = 0;                // largest relative error
  std::string parameter;           // that has the worst error
  std::int64_t index = 0;          // of the element with the worst error
  double autograd = 0, numeric = 0;
  std::vector<std::string> unreached;  // parameters that no term reaches
};

/// Differentiates a loss by autograd and by central differences of fourth order
/// (8 (f(+h) - f(-h)) - (f(+2h) - f(-2h))) / 12h, h = 3e-4, at `samples` elements of each tensor:
/// the one of largest gradient, then random ones. Each element is compared for the terms from which
/// autograd reaches its tensor: the others are stopped there, on purpose or by mistake; the reader
/// of `terms` must judge.
///
/// The error of an element is |a - n| / max(|a|, |n|, 1e-3 of its tensor's largest gradient), after
/// subtracting a rounding error of 4 ε |loss| / h from |a - n|.
/// @param arena  float64, one cell. On return its gradients are those of the sum of all terms.
/// Source of the formula: Abramowitz & Stegun (1964), 25.3.6.
std::vector<GroupGradients> gradient_report(Arena& arena, const LossUnderCheck& loss,
                                            std::int64_t samples, std::uint64_t seed);

}  // namespace depthgrid
