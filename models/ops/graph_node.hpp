#pragma once

#include <optional>

#include <torch/csrc/autograd/custom_function.h>

namespace depthgrid {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Base of an operation T with a backward pass of its own.
template <class T>
using GraphNode = torch::autograd::Function<T>;

/// An input of a graph node that may be undefined: such tensors are allowed only as optional ones.
using OptionalTensor = std::optional<at::Tensor>;

}  // namespace depthgrid
