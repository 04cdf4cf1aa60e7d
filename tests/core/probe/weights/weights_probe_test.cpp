// The small problems have the answers of the large ones.
#include "core/probe/weights/weights_probe.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace weights_probe_test {

TEST(ProductSpectrum, SingularValuesAreThoseOfTheWholeProduct) {
  const at::Tensor a = at::randn({64, 16}, at::kFloat), b = at::randn({64, 16}, at::kFloat);
  const ProductSpectrum small = product_spectrum(a, b);
  const at::Tensor whole =
      at::linalg_svdvals(at::mm(a.to(at::kDouble), b.to(at::kDouble).t())).contiguous();
  ASSERT_EQ(small.singular.size(), 16U);
  double worst = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const double exact = whole[static_cast<std::int64_t>(i)].item<double>();
    worst = std::max(worst, std::abs(small.singular[i] - exact));
  }
  EXPECT_LT(worst, 1e-10);
  verdict(35, "σ(W_Q W_Kᵀ) by small factors: distance from the whole product's", worst,
          at_most(1e-5));
  EXPECT_LT(whole[16].item<double>(), 1e-10) << "the others are zero";
}

TEST(ProductSpectrum, EigenvaluesAreThoseOfTheWholeProduct) {
  const at::Tensor a = at::randn({48, 12}, at::kDouble), b = at::randn({48, 12}, at::kDouble);
  const ProductSpectrum small = product_spectrum(a, b);
  const at::Tensor whole =
      at::view_as_real(at::linalg_eigvals(at::mm(a, b.t()))).contiguous();  // of 48, in any order
  for (std::size_t i = 0; i < 12; ++i) {
    double nearest = 1;
    for (std::int64_t j = 0; j < 48; ++j) {
      const double re = whole[j][0].item<double>() - small.real[i];
      const double im = whole[j][1].item<double>() - small.imag[i];
      nearest = std::min(nearest, std::hypot(re, im));
    }
    EXPECT_LT(nearest, 1e-9) << i;
    if (i == 0) continue;
    EXPECT_GE(std::hypot(small.real[i - 1], small.imag[i - 1]),
              std::hypot(small.real[i], small.imag[i]));
  }
}

TEST(ProductSpectrum, ARotationHasTheEigenvaluesPlusAndMinusI) {
  const at::Tensor quarter = at::tensor({0.0, -1.0, 1.0, 0.0}).view({2, 2});
  const at::Tensor a = at::cat({quarter, at::zeros({6, 2}, at::kDouble)}, 0);
  const at::Tensor b = at::eye(8, at::kDouble).narrow(1, 0, 2).contiguous();
  const ProductSpectrum s = product_spectrum(a, b);
  EXPECT_NEAR(s.real[0], 0, 1e-15);
  verdict(35, "rotation: imaginary part of the first eigenvalue", s.imag[0], near(1, 1e-15));
  verdict(35, "rotation: of the second", s.imag[1], near(-1, 1e-15));
  EXPECT_NEAR(s.singular[0], 1, 1e-15);
  EXPECT_NEAR(s.singular[1], 1, 1e-15);
}

TEST(ProductSpectrum, NumbersThatAreNotFiniteGiveNone) {
  at::Tensor a = at::randn({5, 2}, at::kDouble);
  a[0][0] = kNaN;
  EXPECT_TRUE(std::isnan(product_spectrum(a, at::randn({5, 2}, at::kDouble)).singular[1]));
  EXPECT_TRUE(std::isnan(product_spectrum(at::randn({5, 2}, at::kDouble), a).imag[0]));
  EXPECT_TRUE(std::isnan(spectral_norm(a)));
}

TEST(SpectralNorm, IsTheLargestSingularValueOfTallAndWideMatrices) {
  for (const auto& [rows, columns] : {std::pair{40, 10}, std::pair{10, 40}, std::pair{7, 7}}) {
    const at::Tensor w = at::randn({rows, columns}, at::kFloat);
    const double expected = at::linalg_svdvals(w.to(at::kDouble))[0].item<double>();
    EXPECT_NEAR(spectral_norm(w), expected, 1e-10 * expected);
  }
  EXPECT_EQ(spectral_norm(at::zeros({3, 4})), 0);
}

}  // namespace weights_probe_test
}  // namespace depthgrid::testing
