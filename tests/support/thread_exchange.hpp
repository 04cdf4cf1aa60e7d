#pragma once

#include <barrier>
#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid::testing {

/// What the ranks of a pretended group, threads of this process, show each other.
class ThreadExchange {
 public:
  explicit ThreadExchange(int ranks) : barrier_(ranks), shown_(static_cast<std::size_t>(ranks)) {}

  /// Collective. @return what every rank shows, in rank order: copies, of any shape.
  std::vector<at::Tensor> show(int rank, const at::Tensor& mine) {
    shown_[static_cast<std::size_t>(rank)] = mine.detach().clone();
    meet();
    std::vector<at::Tensor> all = shown_;
    meet();
    return all;
  }

  /// Collective.
  void meet() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
  std::vector<at::Tensor> shown_;
};

}  // namespace depthgrid::testing
