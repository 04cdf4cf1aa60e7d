#include "models/ops/cpu/depth_product_kernel.hpp"

namespace depthgrid {
namespace {

// Built like row_norm_kernel.cpp: plain loops, compiled once per instruction-set level.
#define DEPTHGRID_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#define DEPTHGRID_INLINE inline __attribute__((always_inline))

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

DEPTHGRID_CLONES void forward_f32(const DepthBlock<float>& b, float* y) {
  forward(b, y);
}
DEPTHGRID_CLONES void forward_f64(const DepthBlock<double>& b, double* y) {
  forward(b, y);
}
DEPTHGRID_CLONES void backward_f32(const DepthBlock<float>& b,
                                   const DepthBlockGradients<float>& d) {
  backward(b, d);
}
DEPTHGRID_CLONES void backward_f64(const DepthBlock<double>& b,
                                   const DepthBlockGradients<double>& d) {
  backward(b, d);
}

}  // namespace

void depth_block_forward(const DepthBlock<float>& block, float* y) {
  forward_f32(block, y);
}
void depth_block_forward(const DepthBlock<double>& block, double* y) {
  forward_f64(block, y);
}
void depth_block_backward(const DepthBlock<float>& block, const DepthBlockGradients<float>& d) {
  backward_f32(block, d);
}
void depth_block_backward(const DepthBlock<double>& block, const DepthBlockGradients<double>& d) {
  backward_f64(block, d);
}

}  // namespace depthgrid
