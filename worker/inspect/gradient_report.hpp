#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"

namespace depthgrid {

/// A loss whose gradient is looked at: a sum of named terms.
struct LossUnderCheck {
  std::vector<std::string_view> names;
  /// The terms with their weights, in the unit of the gradients that are compared; with graphs.
  std::function<std::vector<at::Tensor>()> terms;
};

/// Autograd and finite differences of one group of parameters.
struct GroupGradients {
  std::string group;
  std::vector<std::string> terms;  // those that reach it by autograd
  std::int64_t elements = 0;       // compared
  double worst = 0;                // largest relative error
  std::string parameter;           // where
  std::int64_t index = 0;          // of its elements
  double autograd = 0, numeric = 0;
  std::vector<std::string> unreached;  // parameters that no term reaches
};

/// Differentiates a loss by autograd and by central differences of fourth order
/// (8 (f(+h) - f(-h)) - (f(+2h) - f(-2h))) / 12h, h = 3e-4, at `samples` elements of each tensor:
/// the one of largest gradient, then random ones. Each element is compared for the terms that reach
/// its tensor by autograd: the others are stopped there on purpose, or by mistake; which they are
/// is for the reader of `terms`.
///
/// The error of an element is |a - n| / max(|a|, |n|, 1e-3 of its tensor's largest gradient), where
/// a difference of 4 ε |loss| / h, which rounding makes, is taken off.
/// @param arena  float64, one cell. Its gradients are left those of the sum of all terms.
/// Source of the formula: Abramowitz & Stegun (1964), 25.3.6.
std::vector<GroupGradients> gradient_report(Arena& arena, const LossUnderCheck& loss,
                                            std::int64_t samples, std::uint64_t seed);

}  // namespace depthgrid
