#include "models/ops/cpu/lti_scan_kernel.hpp"

#include <algorithm>

namespace depthgrid {
namespace {

// Built with -O3 -fopenmp-simd; each entry is compiled once per instruction-set level.
#define DEPTHGRID_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#define DEPTHGRID_INLINE inline __attribute__((always_inline))

constexpr std::int64_t kTile = 32;  // states whose sums stay in registers

/// Calls step(row, preceding row or -1) for every token in the order of the recurrence.
template <class Step>
DEPTHGRID_INLINE void each_token(ScanOrder order, std::int64_t tokens, const Step& step) {
  const bool forward = order == ScanOrder::Forward;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t t = forward ? i : tokens - 1 - i;
    step(t, i == 0 ? -1 : (forward ? t - 1 : t + 1));
  }
}

template <class T>
DEPTHGRID_INLINE void diagonal(ScanOrder order, const T* a, const T* u, T* h, std::int64_t tokens,
                               std::int64_t states) {
  each_token(order, tokens, [=](std::int64_t t, std::int64_t before) {
    const T* in = u + t * states;
    T* out = h + t * states;
    if (before < 0) {
      std::copy(in, in + states, out);
      return;
    }
    const T* last = h + before * states;
#pragma omp simd
    for (std::int64_t n = 0; n < states; ++n) out[n] = a[n] * last[n] + in[n];
  });
}

template <class T>
DEPTHGRID_INLINE void gradient(const T* l, const T* h, T* da, std::int64_t tokens,
                               std::int64_t states) {
  std::fill(da, da + states, T(0));
  for (std::int64_t t = 1; t < tokens; ++t) {
    const T* now = l + t * states;
    const T* last = h + (t - 1) * states;
#pragma omp simd
    for (std::int64_t n = 0; n < states; ++n) da[n] += now[n] * last[n];
  }
}

template <class T>
DEPTHGRID_INLINE void dense(ScanOrder order, const T* columns, const T* u, T* h,
                            std::int64_t tokens, std::int64_t states) {
  each_token(order, tokens, [=](std::int64_t t, std::int64_t before) {
    const T* in = u + t * states;
    T* out = h + t * states;
    if (before < 0) {
      std::copy(in, in + states, out);
      return;
    }
    const T* last = h + before * states;
    std::int64_t n = 0;
    for (; n + kTile <= states; n += kTile) {
      T sum[kTile];
      std::copy(in + n, in + n + kTile, sum);
      for (std::int64_t m = 0; m < states; ++m) {
        const T* row = columns + m * states + n;
        const T factor = last[m];
#pragma omp simd
        for (std::int64_t j = 0; j < kTile; ++j) sum[j] += row[j] * factor;
      }
      std::copy(sum, sum + kTile, out + n);
    }
    const std::int64_t rest = states - n;
    if (rest == 0) return;
    std::copy(in + n, in + states, out + n);
    for (std::int64_t m = 0; m < states; ++m) {
      const T* row = columns + m * states + n;
      const T factor = last[m];
#pragma omp simd
      for (std::int64_t j = 0; j < rest; ++j) out[n + j] += row[j] * factor;
    }
  });
}

DEPTHGRID_CLONES void diagonal_f32(ScanOrder o, const float* a, const float* u, float* h,
                                   std::int64_t tokens, std::int64_t states) {
  diagonal(o, a, u, h, tokens, states);
}
DEPTHGRID_CLONES void diagonal_f64(ScanOrder o, const double* a, const double* u, double* h,
                                   std::int64_t tokens, std::int64_t states) {
  diagonal(o, a, u, h, tokens, states);
}
DEPTHGRID_CLONES void gradient_f32(const float* l, const float* h, float* da, std::int64_t tokens,
                                   std::int64_t states) {
  gradient(l, h, da, tokens, states);
}
DEPTHGRID_CLONES void gradient_f64(const double* l, const double* h, double* da,
                                   std::int64_t tokens, std::int64_t states) {
  gradient(l, h, da, tokens, states);
}
DEPTHGRID_CLONES void dense_f32(ScanOrder o, const float* columns, const float* u, float* h,
                                std::int64_t tokens, std::int64_t states) {
  dense(o, columns, u, h, tokens, states);
}
DEPTHGRID_CLONES void dense_f64(ScanOrder o, const double* columns, const double* u, double* h,
                                std::int64_t tokens, std::int64_t states) {
  dense(o, columns, u, h, tokens, states);
}

}  // namespace

void diagonal_scan(ScanOrder order, const float* a, const float* u, float* h, std::int64_t tokens,
                   std::int64_t states) {
  diagonal_f32(order, a, u, h, tokens, states);
}
void diagonal_scan(ScanOrder order, const double* a, const double* u, double* h,
                   std::int64_t tokens, std::int64_t states) {
  diagonal_f64(order, a, u, h, tokens, states);
}
void diagonal_scan_gradient(const float* l, const float* h, float* da, std::int64_t tokens,
                            std::int64_t states) {
  gradient_f32(l, h, da, tokens, states);
}
void diagonal_scan_gradient(const double* l, const double* h, double* da, std::int64_t tokens,
                            std::int64_t states) {
  gradient_f64(l, h, da, tokens, states);
}
void dense_scan(ScanOrder order, const float* columns, const float* u, float* h,
                std::int64_t tokens, std::int64_t states) {
  dense_f32(order, columns, u, h, tokens, states);
}
void dense_scan(ScanOrder order, const double* columns, const double* u, double* h,
                std::int64_t tokens, std::int64_t states) {
  dense_f64(order, columns, u, h, tokens, states);
}

}  // namespace depthgrid
