#pragma once

#include <cstdint>

namespace depthgrid {

/// Rows per separate gradient sum: a constant, so that sums do not depend on how rows are
/// distributed over threads.
constexpr std::int64_t kNormRowsPerBlock = 32;

/// Inputs for one block of rows; `float` or `double`.
template <class T>
struct NormRows {
  const T* x;      // (rows, channels)
  const T* scale;  // (channels) or null
  const T* shift;  // (channels) or null
  std::int64_t rows;
  std::int64_t channels;
  double eps;
  bool centred;  // layer norm; else root mean square
};

/// y (rows, channels); mean and inverse deviation of each row, if not null, are saved for the
/// backward pass.
template <class T>
void norm_forward(const NormRows<T>& in, T* y, T* mean, T* inverse);

/// dx (rows, channels) is written; dscale and dshift (channels), if not null, are added to.
template <class T>
void norm_backward(const NormRows<T>& in, const T* dy, const T* mean, const T* inverse, T* dx,
                   T* dscale, T* dshift);

/// out (rows, count): products of each normed row, without scale and shift, with the rows of w
/// (count, channels). Rows are bitwise independent of each other.
template <class T>
void norm_products(const NormRows<T>& in, const T* w, std::int64_t count, T* out);

template <>
void norm_forward<float>(const NormRows<float>&, float*, float*, float*);
template <>
void norm_forward<double>(const NormRows<double>&, double*, double*, double*);
template <>
void norm_backward<float>(const NormRows<float>&, const float*, const float*, const float*, float*,
                          float*, float*);
template <>
void norm_backward<double>(const NormRows<double>&, const double*, const double*, const double*,
                           double*, double*, double*);

template <>
void norm_products<float>(const NormRows<float>&, const float*, std::int64_t, float*);
template <>
void norm_products<double>(const NormRows<double>&, const double*, std::int64_t, double*);

}  // namespace depthgrid
