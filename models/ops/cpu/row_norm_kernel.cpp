#include "models/ops/cpu/row_norm_kernel.hpp"

#include <cmath>

#include "models/ops/cpu/clones.hpp"

namespace depthgrid {
namespace {

template <class T>
struct RowStatistics {
  T mean, inverse;  // mean is 0 without centring; inverse of the deviation
};

template <class T>
DEPTHGRID_INLINE RowStatistics<T> statistics(const NormRows<T>& in, const T* x) {
  const std::int64_t n = in.channels;
  T sum = 0;
  if (in.centred) {
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < n; ++c) sum += x[c];
  }
  const T m = sum / static_cast<T>(n);
  T square = 0;
#pragma omp simd reduction(+ : square)
  for (std::int64_t c = 0; c < n; ++c) square += (x[c] - m) * (x[c] - m);
  return {m, T{1} / std::sqrt(square / static_cast<T>(n) + static_cast<T>(in.eps))};
}

template <class T>
DEPTHGRID_INLINE void forward(const NormRows<T>& in, T* y, T* mean, T* inverse) {
  const std::int64_t n = in.channels;
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * n;
    T* out = y + r * n;
    const RowStatistics<T> row = statistics(in, x);
    const T m = row.mean, s = row.inverse;
    if (mean != nullptr) mean[r] = m;
    if (inverse != nullptr) inverse[r] = s;
    if (in.scale == nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) out[c] = (x[c] - m) * s;
    } else if (in.shift == nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) out[c] = (x[c] - m) * s * in.scale[c];
    } else {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) out[c] = (x[c] - m) * s * in.scale[c] + in.shift[c];
    }
  }
}

template <class T>
DEPTHGRID_INLINE void backward(const NormRows<T>& in, const T* dy, const T* mean, const T* inverse,
                               T* dx, T* dscale, T* dshift) {
  const std::int64_t n = in.channels;
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * n;
    const T* g = dy + r * n;
    T* out = dx + r * n;
    const T m = mean[r];
    const T s = inverse[r];
    T sum = 0;
    T dot = 0;
    if (in.scale == nullptr) {
#pragma omp simd reduction(+ : sum, dot)
      for (std::int64_t c = 0; c < n; ++c) {
        sum += g[c];
        dot += g[c] * (x[c] - m);
      }
    } else {
#pragma omp simd reduction(+ : sum, dot)
      for (std::int64_t c = 0; c < n; ++c) {
        const T gs = g[c] * in.scale[c];
        sum += gs;
        dot += gs * (x[c] - m);
      }
    }
    const T a = in.centred ? sum / static_cast<T>(n) : T{0};
    const T b = dot * s * s / static_cast<T>(n);
    if (in.scale == nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) out[c] = s * (g[c] - a - (x[c] - m) * b);
    } else {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) out[c] = s * (g[c] * in.scale[c] - a - (x[c] - m) * b);
    }
    if (dscale != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) dscale[c] += g[c] * (x[c] - m) * s;
    }
    if (dshift != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < n; ++c) dshift[c] += g[c];
    }
  }
}

template <class T>
DEPTHGRID_INLINE void products(const NormRows<T>& in, const T* w, std::int64_t count, T* out) {
  const std::int64_t n = in.channels;
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * n;
    const RowStatistics<T> of_row = statistics(in, x);
    const T m = of_row.mean, s = of_row.inverse;
    for (std::int64_t j = 0; j < count; ++j) {
      const T* row = w + j * n;
      T product = 0;
#pragma omp simd reduction(+ : product)
      for (std::int64_t c = 0; c < n; ++c) product += (x[c] - m) * row[c];
      out[r * count + j] = product * s;
    }
  }
}

}  // namespace

DEPTHGRID_CLONES void norm_forward(const NormRows<float>& in, float* y, float* mean,
                                   float* inverse) {
  forward(in, y, mean, inverse);
}
DEPTHGRID_CLONES void norm_forward(const NormRows<double>& in, double* y, double* mean,
                                   double* inverse) {
  forward(in, y, mean, inverse);
}
DEPTHGRID_CLONES void norm_backward(const NormRows<float>& in, const float* dy, const float* mean,
                                    const float* inverse, float* dx, float* dscale, float* dshift) {
  backward(in, dy, mean, inverse, dx, dscale, dshift);
}
DEPTHGRID_CLONES void norm_backward(const NormRows<double>& in, const double* dy,
                                    const double* mean, const double* inverse, double* dx,
                                    double* dscale, double* dshift) {
  backward(in, dy, mean, inverse, dx, dscale, dshift);
}
DEPTHGRID_CLONES void norm_products(const NormRows<float>& in, const float* w, std::int64_t count,
                                    float* out) {
  products(in, w, count, out);
}
DEPTHGRID_CLONES void norm_products(const NormRows<double>& in, const double* w, std::int64_t count,
                                    double* out) {
  products(in, w, count, out);
}

}  // namespace depthgrid
