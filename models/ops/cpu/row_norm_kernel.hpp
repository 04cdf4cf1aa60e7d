#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

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
void norm_forward(const NormRows<float>& in, float* y, float* mean, float* inverse,
                  Isa isa = isa_in_use());
void norm_forward(const NormRows<double>& in, double* y, double* mean, double* inverse,
                  Isa isa = isa_in_use());

/// dx (rows, channels) is written; dscale and dshift (channels), if not null, are added to.
void norm_backward(const NormRows<float>& in, const float* dy, const float* mean,
                   const float* inverse, float* dx, float* dscale, float* dshift,
                   Isa isa = isa_in_use());
void norm_backward(const NormRows<double>& in, const double* dy, const double* mean,
                   const double* inverse, double* dx, double* dscale, double* dshift,
                   Isa isa = isa_in_use());

/// out (rows, count): products of each normed row, without scale and shift, with the rows of w
/// (count, channels). Rows are bitwise independent of each other.
void norm_products(const NormRows<float>& in, const float* w, std::int64_t count, float* out,
                   Isa isa = isa_in_use());
void norm_products(const NormRows<double>& in, const double* w, std::int64_t count, double* out,
                   Isa isa = isa_in_use());

}  // namespace depthgrid
