#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

constexpr std::int64_t kDepthBlock = 512;  // entries computed together

/// A block of entries of y = m G + base of one cell. Pointers into rows of N entries point to the
/// block's first entry. A block's bits depend only on its own inputs.
struct DepthBlock {
  const float* generator;  // (h, N)
  const float* base;       // (N), or null for 0
  const float* m;          // (L, h)
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t entries;  // N, the length of a row
  std::int64_t count;    // of the block, at most kDepthBlock
};

/// @param y  (L, N), written.
void depth_block_forward(const DepthBlock& block, float* y, Isa isa = isa_in_use());

/// Reads dy (L, N); adds to dgenerator (h, N) and dbase (N, or null) and writes the block's share
/// of dm (L, h): one pass over the generator and its gradient.
struct DepthBlockGradients {
  const float* dy;
  float* dgenerator;
  float* dbase;
  float* dm;
};
void depth_block_backward(const DepthBlock& block, const DepthBlockGradients& d,
                          Isa isa = isa_in_use());

}  // namespace depthgrid
