#include "models/ops/cpu/lti_scan_kernel.hpp"

#include <algorithm>

#include "models/ops/cpu/clones.hpp"

namespace depthgrid {
namespace {

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

}  // namespace

DEPTHGRID_CLONES void diagonal_scan(ScanOrder order, const float* a, const float* u, float* h,
                                    std::int64_t tokens, std::int64_t states) {
  diagonal(order, a, u, h, tokens, states);
}
DEPTHGRID_CLONES void diagonal_scan(ScanOrder order, const double* a, const double* u, double* h,
                                    std::int64_t tokens, std::int64_t states) {
  diagonal(order, a, u, h, tokens, states);
}
DEPTHGRID_CLONES void diagonal_scan_gradient(const float* l, const float* h, float* da,
                                             std::int64_t tokens, std::int64_t states) {
  gradient(l, h, da, tokens, states);
}
DEPTHGRID_CLONES void diagonal_scan_gradient(const double* l, const double* h, double* da,
                                             std::int64_t tokens, std::int64_t states) {
  gradient(l, h, da, tokens, states);
}
DEPTHGRID_CLONES void dense_scan(ScanOrder order, const float* columns, const float* u, float* h,
                                 std::int64_t tokens, std::int64_t states) {
  dense(order, columns, u, h, tokens, states);
}
DEPTHGRID_CLONES void dense_scan(ScanOrder order, const double* columns, const double* u, double* h,
                                 std::int64_t tokens, std::int64_t states) {
  dense(order, columns, u, h, tokens, states);
}

}  // namespace depthgrid
