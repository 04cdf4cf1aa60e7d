#include "core/probe/weights/weights_probe.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/view_as_real.h>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

constexpr std::array<const char*, 2> kProducts = {"weight_qk", "weight_ov"};

constexpr std::array<at::Tensor StepWeights::*, kWeightTypeNames.size()> kMatrices = {
    &StepWeights::q,   &StepWeights::k,  &StepWeights::v,
    &StepWeights::out, &StepWeights::up, &StepWeights::down};

/// Numbers of one cell, by series.
struct Rows {
  std::array<ProductSpectrum, kProducts.size()> products;  // by step, head and index
  std::vector<double> norms;                               // by step and type
};

void put(std::vector<double>& to, const std::vector<double>& from, std::size_t at) {
  std::ranges::copy(from, to.begin() + static_cast<std::ptrdiff_t>(at));
}

/// @param at  where the head's numbers go
void put(ProductSpectrum& to, const ProductSpectrum& from, std::size_t at) {
  put(to.singular, from.singular, at);
  put(to.real, from.real, at);
  put(to.imag, from.imag, at);
}

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

WeightsProbe::WeightsProbe(const ProbeSubject& subject, ProbeSchedule schedule)
    : subject_(subject), schedule_(std::move(schedule)) {}

void WeightsProbe::declare(RecordSink& out) {
  const SeriesAxis depth{.name = "depth", .length = subject_.depth()};
  const std::vector<SeriesAxis> axes = {
      depth,
      {.name = "head", .length = subject_.heads()},
      {.name = "singular_index", .length = subject_.head_width()}};
  for (std::size_t i = 0; subject_.heads() > 0 && i < kProducts.size(); ++i) {
    const std::string name = kProducts[i];
    products_[i] = {out.declare({name + "_singular", axes}),
                    out.declare({name + "_eigen_real", axes}),
                    out.declare({name + "_eigen_imag", axes})};
  }
  const SeriesAxis types = weight_type_axis(subject_.depth_factors());
  types_ = static_cast<std::size_t>(types.length);
  norm_ = out.declare({"weight_norm", {depth, types}});
}

void WeightsProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const std::int64_t heads = subject_.heads(), width = subject_.head_width();
  const auto depth = static_cast<std::size_t>(subject_.depth());
  const std::vector<double> none(depth * static_cast<std::size_t>(heads * width), kNaN);
  const ProductSpectrum absent{none, none, none};
  const Rows empty{{absent, absent}, std::vector<double>(depth * types_, kNaN)};
  std::vector<Rows> rows(static_cast<std::size_t>(subject_.cells()), empty);
  subject_.step_weights([&](std::int64_t step, const StepWeights& w) {
    for (std::size_t e = 0; e < rows.size(); ++e) {
      const auto cell = static_cast<std::int64_t>(e);
      for (std::size_t i = 0; i < kMatrices.size(); ++i) {
        const at::Tensor& all = w.*kMatrices[i];
        if (!all.defined()) continue;
        rows[e].norms[static_cast<std::size_t>(step) * types_ + i] =
            spectral_norm(all.select(0, cell));
      }
      if (heads == 0 || !w.q.defined()) continue;
      const at::Tensor q = w.q.select(0, cell), k = w.k.select(0, cell), v = w.v.select(0, cell),
                       o = w.out.select(0, cell);
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto at = static_cast<std::size_t>((step * heads + h) * width);
        const auto rows_of = [&](const at::Tensor& m) { return m.narrow(0, h * width, width).t(); };
        put(rows[e].products[0], product_spectrum(rows_of(q), rows_of(k)), at);
        put(rows[e].products[1], product_spectrum(o.narrow(1, h * width, width), rows_of(v)), at);
      }
    }
  });
  for (std::size_t e = 0; e < rows.size(); ++e) {
    for (std::size_t i = 0; heads > 0 && i < kProducts.size(); ++i) {
      out.write(products_[i].singular, e, rows[e].products[i].singular);
      out.write(products_[i].real, e, rows[e].products[i].real);
      out.write(products_[i].imag, e, rows[e].products[i].imag);
    }
    out.write(norm_, e, rows[e].norms);
  }
}

}  // namespace depthgrid
