#include "models/ops/cpu/depth_product_kernel.hpp"

#include "models/ops/cpu/clones.hpp"

namespace depthgrid {
namespace {

/// Rows of G are the outer loop: each is read from memory once, the L rows of y stay in cache.
template <class T>
DEPTHGRID_INLINE void forward(const DepthBlock<T>& b, T* y) {
  const std::int64_t n = b.count;
  for (std::int64_t l = 0; l < b.layers; ++l) {
    T* row = y + l * b.entries;
    for (std::int64_t i = 0; i < n; ++i) row[i] = b.base == nullptr ? T{0} : b.base[i];
  }
  for (std::int64_t k = 0; k < b.hidden; ++k) {
    const T* g = b.generator + k * b.entries;
    for (std::int64_t l = 0; l < b.layers; ++l) {
      const T a = b.m[l * b.hidden + k];
      T* row = y + l * b.entries;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) row[i] += a * g[i];
    }
  }
}

template <class T>
DEPTHGRID_INLINE void backward(const DepthBlock<T>& b, const DepthBlockGradients<T>& d) {
  const std::int64_t n = b.count;
  for (std::int64_t k = 0; k < b.hidden; ++k) {
    const T* g = b.generator + k * b.entries;
    T* dg = d.dgenerator + k * b.entries;
    for (std::int64_t l = 0; l < b.layers; ++l) {
      const T a = b.m[l * b.hidden + k];
      const T* row = d.dy + l * b.entries;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t i = 0; i < n; ++i) {
        sum += row[i] * g[i];
        dg[i] += a * row[i];
      }
      d.dm[l * b.hidden + k] = sum;
    }
  }
  if (d.dbase == nullptr) return;
  for (std::int64_t l = 0; l < b.layers; ++l) {
    const T* row = d.dy + l * b.entries;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) d.dbase[i] += row[i];
  }
}

}  // namespace

DEPTHGRID_CLONES void depth_block_forward(const DepthBlock<float>& block, float* y) {
  forward(block, y);
}
DEPTHGRID_CLONES void depth_block_forward(const DepthBlock<double>& block, double* y) {
  forward(block, y);
}
DEPTHGRID_CLONES void depth_block_backward(const DepthBlock<float>& block,
                                           const DepthBlockGradients<float>& d) {
  backward(block, d);
}
DEPTHGRID_CLONES void depth_block_backward(const DepthBlock<double>& block,
                                           const DepthBlockGradients<double>& d) {
  backward(block, d);
}

}  // namespace depthgrid
