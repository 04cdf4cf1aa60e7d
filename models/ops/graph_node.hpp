#pragma once

#include <optional>
#include <string>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/base/error.hpp"

namespace depthgrid {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Base of an operation T with a backward pass of its own.
template <class T>
using GraphNode = torch::autograd::Function<T>;

/// First line of a backward pass that autograd cannot follow: differentiated a second time, its
/// result would silently pass for a constant.
/// @throws Error if the gradient is computed to be differentiated (create_graph).
inline void expect_last_derivative(const char* operation) {
  if (!at::GradMode::is_enabled()) return;
  throw Error(std::string(operation) +
              " is a kernel and is differentiated only once: ask for ForwardContext::composed");
}

/// A graph-node input that may be undefined: undefined tensors can be passed only as optionals.
using OptionalTensor = std::optional<at::Tensor>;

}  // namespace depthgrid
