#include "core/probe/weights/product_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <tuple>

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/view_as_real.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

at::Tensor host(const at::Tensor& x) {
  return x.to(at::kCPU, at::kDouble).contiguous();
}

/// LAPACK may not return from other numbers.
bool sound(const at::Tensor& x) {
  return at::isfinite(x).all().item<bool>();
}

at::Tensor triangle(const at::Tensor& x) {
  return std::get<1>(at::linalg_qr(x, "r"));
}

}  // namespace

ProductSpectrum product_spectrum(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = host(a), right = host(b);
  const auto r = static_cast<std::size_t>(left.size(1));
  if (!sound(left) || !sound(right)) {
    const std::vector<double> none(r, kNaN);
    return {none, none, none};
  }
  ProductSpectrum out;
  const at::Tensor singular =
      at::linalg_svdvals(at::mm(triangle(left), triangle(right).t())).contiguous();
  const double* s = singular.const_data_ptr<double>();
  out.singular.assign(s, s + r);
  const at::Tensor values =
      at::view_as_real(at::linalg_eigvals(at::mm(right.t(), left))).contiguous();
  const double* v = values.const_data_ptr<double>();
  std::vector<std::complex<double>> eigen;
  for (std::size_t i = 0; i < r; ++i) eigen.emplace_back(v[2 * i], v[2 * i + 1]);
  std::ranges::stable_sort(eigen, [](const auto& x, const auto& y) {
    const double p = std::abs(x), q = std::abs(y);
    return p != q ? p > q : x.imag() > y.imag();
  });
  for (const std::complex<double>& one : eigen) {
    out.real.push_back(one.real());
    out.imag.push_back(one.imag());
  }
  return out;
}

double spectral_norm(const at::Tensor& matrix) {
  const at::Tensor w = host(matrix);
  if (!sound(w)) return kNaN;
  const at::Tensor gram = w.size(0) < w.size(1) ? at::mm(w, w.t()) : at::mm(w.t(), w);
  return std::sqrt(std::max(0.0, at::linalg_eigvalsh(gram)[-1].item<double>()));
}

}  // namespace depthgrid
