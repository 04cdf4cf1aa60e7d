#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

constexpr std::int64_t kDepthBlock = 512;  // entries computed together

/// A block of entries of y = m G + base of one cell. Pointers into rows of N entries point to the
/// block's first entry. A block's bits depend only on its own inputs.
template <class T>
struct DepthBlock {
  const T* generator;  // (h, N)
  const T* base;       // (N), or null for 0
  const T* m;          // (L, h)
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t entries;  // N, the length of a row
  std::int64_t count;    // of the block, at most kDepthBlock
};

/// @param y  (L, N), written.
void depth_block_forward(const DepthBlock<float>& block, float* y, Isa isa = isa_in_use());
void depth_block_forward(const DepthBlock<double>& block, double* y, Isa isa = isa_in_use());

/// Reads dy (L, N); adds to dgenerator (h, N) and dbase (N, or null) and writes the block's share
/// of dm (L, h): one pass over the generator and its gradient.
template <class T>
struct DepthBlockGradients {
  const T* dy;
  T* dgenerator;
  T* dbase;
  T* dm;
};
void depth_block_backward(const DepthBlock<float>& block, const DepthBlockGradients<float>& d,
                          Isa isa = isa_in_use());
void depth_block_backward(const DepthBlock<double>& block, const DepthBlockGradients<double>& d,
                          Isa isa = isa_in_use());

}  // namespace depthgrid
