#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/edge.h>

#include "core/depth/stepper.hpp"

namespace depthgrid {

/// Gradients of what a run of steps reads besides its state: parameters, weights that were made
/// before it, step lengths, the control signal. Found in the graph, so that no field has to name
/// them.
class CapturedGradients {
 public:
  /// Number of the place, which is new if it has not been seen.
  std::size_t index(const torch::autograd::Edge& edge);

  const std::vector<torch::autograd::Edge>& edges() const noexcept { return edges_; }
  /// Undefined where nothing has arrived. The same order.
  std::vector<at::Tensor> gradients;

 private:
  std::map<std::pair<torch::autograd::Node*, std::uint32_t>, std::size_t> known_;
  std::vector<torch::autograd::Edge> edges_;
};

/// Gradient with respect to what is carried between steps.
using StateGradient = DepthState;

/// A part of the depth, taken with a tape of its own: its inputs are cut off from what made them.
class StepTape {
 public:
  /// Begins: everything that is computed from here on is on the tape. Enables gradients until the
  /// end of its life.
  explicit StepTape(const DepthState& inputs);

  /// What the taped operations are to read.
  const DepthState& inputs() const noexcept { return inputs_; }

  /// Places outside of the tape that these results depend on.
  std::vector<std::size_t> captures(const std::vector<at::Tensor>& results,
                                    CapturedGradients& captured) const;

  /// Pulls the cotangents of `results` back, and frees the tape. What is gathered in `captured` at
  /// `places` is added to in the order in which one backward pass over all steps would: the sums
  /// have its bits.
  /// @param cotangents  one per result; undefined ones are zero.
  /// @return with respect to inputs(); undefined where there is none.
  StateGradient pull_back(const std::vector<at::Tensor>& results,
                          const std::vector<at::Tensor>& cotangents,
                          const std::vector<std::size_t>& places,
                          CapturedGradients& captured) const;

 private:
  at::AutoGradMode enabled_;
  std::uint64_t begin_;  // sequence number of the tape's first node
  DepthState inputs_;
};

}  // namespace depthgrid
