#pragma once

#include <optional>

#include <torch/csrc/autograd/custom_function.h>

namespace depthgrid {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Base of an operation T with a backward pass of its own.
template <class T>
using GraphNode = torch::autograd::Function<T>;

/// A graph-node input that may be undefined: undefined tensors can be passed only as optionals.
using OptionalTensor = std::optional<at::Tensor>;

}  // namespace depthgrid
