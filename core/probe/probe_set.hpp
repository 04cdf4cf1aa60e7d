#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Tokens over which some statistics are taken apart: "first", "rare".
struct TokenClass {
  std::string name;
  at::Tensor member;  // (n, T) bool, host
};

/// The sequences on which probes measure a model: the same for all cells and all measurements.
struct ProbeSet {
  at::Tensor windows;               // (n, T + 1) int64: inputs and, one further, targets
  std::vector<TokenClass> classes;  // at least one

  std::int64_t sequences() const { return windows.size(0); }
  std::int64_t tokens() const { return windows.size(1) - 1; }
};

}  // namespace depthgrid
