#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/cells/cell_rng.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid::testing {

/// Normal numbers (E, ...) that depend on the cells' seeds only.
inline at::Tensor seeded(std::vector<std::int64_t> sizes, const std::vector<std::uint64_t>& seeds,
                         std::uint32_t stream, at::ScalarType type = at::kDouble) {
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(seeds.size()));
  const at::Tensor x = at::empty(sizes, type);
  fill_normal(x, seeds, {.stream = stream});
  return x;
}

/// A small causal residual network with weights of its own for every cell: each layer is
/// x + tanh(x A + (mean of the past) B).
struct CausalToy {
  std::vector<at::Tensor> own, past;  // per layer, (E, C, C)

  CausalToy(std::int64_t layers, std::int64_t width, const std::vector<std::uint64_t>& seeds,
            at::ScalarType type = at::kDouble) {
    const double scale = 0.8 / std::sqrt(static_cast<double>(width));
    for (std::int64_t l = 0; l < layers; ++l) {
      const auto stream = static_cast<std::uint32_t>(100 + 2 * l);
      own.push_back(seeded({width, width}, seeds, stream, type) * scale);
      past.push_back(seeded({width, width}, seeds, stream + 1, type) * scale);
    }
  }

  /// One layer; cell by cell, so that its numbers do not depend on how many there are.
  at::Tensor layer(std::size_t l, const at::Tensor& x) const {
    const at::Tensor count = at::arange(1, x.size(2) + 1, x.options().requires_grad(false));
    std::vector<at::Tensor> cells;
    for (std::int64_t e = 0; e < x.size(0); ++e) {
      const at::Tensor mean = at::cumsum(x[e], 1) / count.view({-1, 1});
      cells.push_back(x[e] + at::tanh(at::matmul(x[e], own[l][e]) + at::matmul(mean, past[l][e])));
    }
    return at::stack(cells);
  }

  at::Tensor operator()(const at::Tensor& x0) const {
    at::Tensor x = x0;
    for (std::size_t l = 0; l < own.size(); ++l) x = layer(l, x);
    return x;
  }
};

/// The Jacobian of one cell's one sequence, (N, N), row by row in reverse mode.
inline at::Tensor dense_jacobian(const StateMap& map, const at::Tensor& at) {
  const at::AutoGradMode graph(true);
  const at::Tensor x = at.detach().clone().requires_grad_(true);
  const at::Tensor y = map(x).flatten();
  std::vector<at::Tensor> rows;
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    rows.push_back(torch::autograd::grad({y[i]}, {x}, {}, true).front().flatten());
  }
  return at::stack(rows).detach();
}

/// x -> M x of every cell and sequence, M (N, N).
inline StateMap linear_map(const at::Tensor& m) {
  return [m](const at::Tensor& x) { return at::matmul(x.flatten(2), m.t()).view(x.sizes()); };
}

}  // namespace depthgrid::testing
